-- What models of the Claude family take, by the version in their names.
local M = {}

---The version as one number, 406 for 4.6. A model of the family that names none is as new as it gets; 0: another model.
---@param model string
---@return number
function M.version(model)
  local name = model:lower():match("claude[^/@]*$") or model:lower():match("claude[^/@]*")
  if not name then
    return 0
  end
  local major, minor = name:match("^claude%-(%d+)[%-%.]?(%d*)")
  if not major then
    major, minor = name:match("^claude%-%a+%-(%d+)[%-%.]?(%d*)")
  end
  if not major then
    return math.huge
  end
  minor = tonumber(minor) or 0
  return tonumber(major) * 100 + (minor < 100 and minor or 0) -- a longer one is a date
end

---@param adapter lathe.Adapter
---@return string
function M.model_of(adapter)
  local model = adapter.model or vim.tbl_get(adapter, "schema", "model", "default")
  return type(model) == "string" and model or ""
end

---Whether the chat's model is this new.
---@param adapter lathe.Adapter
---@param version number 406 for 4.6
---@return boolean
function M.is_from(adapter, version)
  return M.version(M.model_of(adapter)) >= version
end

return M
