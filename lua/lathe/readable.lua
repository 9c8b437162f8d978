-- What was thrown or given, as text.
local M = {}

---Never the address of a table.
---@param value any
---@return string
function M.text(value)
  if type(value) == "string" then
    return value
  end
  if type(value) == "table" then
    local meta = getmetatable(value)
    if type(meta) ~= "table" or not meta.__tostring then
      return vim.inspect(value)
    end
  end
  local ok, text = pcall(tostring, value)
  return ok and text or ("an error of type " .. type(value))
end

---What a function threw; `error(nil)` throws nothing.
---@param value any
---@return string
function M.thrown(value)
  return value == nil and "it failed and did not say why" or M.text(value)
end

return M
