-- What an adapter's table tells of its keys before it is used: the variables that it names, and what it says in plain
-- text. Commands see neither.
local M = {}

local core = require("lathe.core")
local env = require("lathe.adapters.env")

-- Variables that git's and GitHub's own programs need; they stay unless the user has configured an adapter with them.
local needed = { GH_TOKEN = true, GITHUB_TOKEN = true }

---@param name string of a variable
---@return boolean
local function is_secret(name)
  for _, word in ipairs({ "KEY", "TOKEN", "SECRET", "PASSWORD" }) do
    if name:upper():find(word, 1, true) then
      return true
    end
  end
  return false
end

---@param value any
---@return boolean
local function is_variable(value)
  return type(value) == "string" and value:find("^[A-Z0-9_]+$") and value:find("%u") and true or false
end

---@param adapter any
---@param field "env"|"headers"
---@return table
local function fields(adapter, field)
  return type(adapter) == "table" and type(adapter[field]) == "table" and adapter[field] or {}
end

---Collects the variables that an adapter names.
---@param adapter any
---@param is_configured boolean
---@param into table<string, true>
function M.collect(adapter, is_configured, into)
  for _, value in pairs(fields(adapter, "env")) do
    if is_variable(value) then
      into[value] = is_configured or not needed[value] or into[value]
    elseif type(value) == "string" and vim.startswith(value, "cmd:") then
      -- It may as well be a profile or a folder, which other commands need.
      for name in value:gmatch("%${?([%a_][%w_]*)") do
        into[name] = is_secret(name) or into[name]
      end
    end
  end
end

---Has commands not see what an adapter says in plain text, in whatever variable it came from.
---@param adapter any
function M.conceal(adapter)
  if not core.lib or type(adapter) ~= "table" then
    return
  end
  local values, headers = {}, {}
  for _, value in pairs(fields(adapter, "env")) do
    if type(value) == "string" and not (is_variable(value) or vim.startswith(value, "cmd:")) then
      values[#values + 1] = vim.startswith(value, "schema.") and env.at_path(adapter, value) or value
    end
  end
  for name, value in pairs(fields(adapter, "headers")) do
    if type(name) == "string" and type(value) == "string" then
      headers[name] = value
    end
  end
  local url = type(adapter.url) == "string" and adapter.url or ""
  core.lib.add_secrets({ values = values, url = url, headers = headers })
end

return M
