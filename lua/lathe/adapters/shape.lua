-- What an adapter's table must look like. It is the user's own: what does not fit is named before anything is sent.
local M = {}

-- A type by its name, or the fields of a table; `["*"]` is any other field. Fields that are not here are the author's.
local any_function = { ["*"] = "function" }
local shape = {
  name = "string",
  formatted_name = "string",
  wire = "string",
  model = "string",
  url = "string",
  env = {},
  headers = { ["*"] = "string" },
  parameters = {},
  body = {},
  schema = { ["*"] = {} },
  opts = {
    stream = "boolean",
    proxy = "string",
    allow_insecure = "boolean",
    retries = "count",
    limits = { connect_ms = "count", first_byte_ms = "count", idle_ms = "count" },
  },
  handlers = { request = any_function, lifecycle = any_function },
}

---@param value any
---@param want string
---@return boolean
local function fits(value, want)
  if want == "count" then
    return type(value) == "number" and value >= 0 and value % 1 == 0 and value < 2 ^ 31
  end
  return type(value) == want
end

---@param given any
---@param want string|table
---@param path string
---@return string? fault
local function check(given, want, path)
  local name = type(want) == "table" and "table" or want
  if not fits(given, name) then
    local got = type(given) == "number" and tostring(given) or type(given)
    return ("%s: expected a %s, got %s"):format(path, name == "count" and "whole number" or name, got)
  end
  for key, value in pairs(type(want) == "table" and given or {}) do
    local inner = want[key] or want["*"]
    local fault = inner and check(value, inner, path .. "." .. tostring(key))
    if fault then
      return fault
    end
  end
end

---What is wrong with an adapter's table.
---@param adapter table
---@param name string what the user calls it
---@return string? fault for the user, with the place
function M.fault(adapter, name)
  return check(adapter, shape, "adapters.http." .. name)
end

return M
