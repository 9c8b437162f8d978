-- Whether an adapter's table has the shape that a request needs. A user's may hold anything.
local M = {}

---@param value any
---@return boolean
local function is_whole(value)
  return type(value) == "number" and value >= 0 and value % 1 == 0 and value < 2 ^ 53
end

-- What a field must be, `|` between what it may be. Parents come before what is in them.
local shapes = {
  { "wire", "string|function", is_needed = true },
  { "url", "string|function", is_needed = true },
  { "env", "table" },
  { "headers", "table", items = "string" },
  { "headers_with", "table", items = "table" },
  { "parameters", "table" },
  { "body", "table" },
  { "schema", "table", items = "table" },
  { "dialect", "table|function" },
  { "models", "table" },
  { "models.url", "string" },
  { "opts", "table" },
  { "opts.proxy", "string" },
  { "opts.retries", "whole" },
  { "opts.limits", "table" },
  { "opts.limits.connect_ms", "whole" },
  { "opts.limits.first_byte_ms", "whole" },
  { "opts.limits.idle_ms", "whole" },
  { "handlers", "table" },
  { "handlers.lifecycle", "table" },
  { "handlers.lifecycle.setup", "function" },
  { "handlers.request", "table" },
  { "handlers.request.prepare", "function" },
  { "handlers.request.build_parameters", "function" },
  { "handlers.request.build_tools", "function" },
}

---@param wanted string
---@return string for the user
local function words(wanted)
  return wanted == "whole" and "a whole number from 0" or (wanted:gsub("|", " or "))
end

---@param value any
---@param wanted string
---@return boolean
local function fits(value, wanted)
  if wanted == "whole" then
    return is_whole(value)
  end
  return vim.list_contains(vim.split(wanted, "|", { plain = true }), type(value))
end

---The first field that is not what it must be.
---@param adapter lathe.Adapter
---@return string? message
function M.misfit(adapter)
  local function wrong(path, wanted, got)
    local text = "adapters.http.%s.%s: expected %s, got %s"
    got = type(got) == "number" and tostring(got) or type(got)
    return text:format(tostring(adapter.name), path, words(wanted), got)
  end
  for _, shape in ipairs(shapes) do
    local path, wanted = shape[1], shape[2]
    local value = vim.tbl_get(adapter, unpack(vim.split(path, ".", { plain = true })))
    if not fits(value, wanted) and (value ~= nil or shape.is_needed) then
      return wrong(path, wanted, value)
    end
    for name, item in pairs(shape.items and value or {}) do
      if type(name) ~= "string" then
        return wrong(path, "names with values", item)
      elseif type(item) ~= shape.items then
        return wrong(path .. "." .. name, shape.items, item)
      end
    end
  end
end

return M
