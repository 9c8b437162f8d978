-- The values of an adapter's `env`: keys, addresses. They are found at first use, kept here and nowhere else, and never
-- written to a log or a message.
local M = {}

local core = require("lathe.core")
local faults = require("lathe.fault")

-- By adapter (a chat's own copy): gone with it, and not part of it, so that looking at an adapter shows no key.
local found = setmetatable({}, { __mode = "k" }) ---@type table<lathe.Adapter, table<string, string>>

---Runs `cmd:…`; its output without blanks around it is the value. It ends with the shell: what that leaves in the
---background, such as an agent, goes on.
---@param command string
---@param waiting lathe.KeyWaiting
---@param done fun(value: string?, message: string?)
function M.run(command, waiting, done)
  local lib, why = core.load()
  if not lib then
    return done(nil, why)
  end
  -- A variable that it names is one that it needs.
  local keep = vim.list_extend({}, waiting.keep)
  for name in command:gmatch("[%a_][%w_]*") do
    keep[#keep + 1] = name
  end
  core.ask("run_key_command", {
    chat = waiting.chat,
    request = waiting.request,
    judged = waiting.judged,
    command = command,
    without = waiting.without(),
    keep = keep,
  }, done)
end

---Has commands not see a value.
---@param values string[]
function M.conceal(values)
  if core.lib then
    core.lib.add_secrets({ values = values, url = "", headers = {} })
  end
end

---@param adapter lathe.Adapter
---@param path string such as `schema.model.default`
---@return string?
function M.at_path(adapter, path)
  local value = adapter ---@type any
  for part in path:gmatch("[^.]+") do
    value = type(value) == "table" and value[part] or nil
  end
  return type(value) == "string" and value or nil
end

---Finds one value.
---@param adapter lathe.Adapter
---@param name string
---@param waiting lathe.KeyWaiting
---@param done fun(value: string?, fault: string|lathe.Fault|nil)
local function find(adapter, name, waiting, done)
  local given = adapter.env and adapter.env[name]
  local where = ("adapters.http.%s.env.%s"):format(adapter.name, name)
  if type(given) == "function" then
    local ok, value = pcall(given, adapter)
    if not ok or (value ~= nil and type(value) ~= "string") then
      return done(nil, where .. ": the function " .. (ok and "must return a string" or "failed"))
    end
    given = value or ""
  elseif type(given) == "string" and vim.startswith(given, "cmd:") then
    return M.run(given:sub(5), waiting, function(value, message)
      done(value, message and where .. ": " .. message)
    end)
  elseif type(given) == "string" and given:find("^[A-Z0-9_]+$") then
    local value = vim.env[given]
    if not value or value == "" then
      local text = ("No key for %s: set %s or %s"):format(adapter.formatted_name, given, where)
      return done(nil, faults.of_provider(text))
    end
    given = value
  elseif type(given) == "string" and vim.startswith(given, "schema.") then
    given = M.at_path(adapter, given)
  end
  if type(given) ~= "string" then
    return done(nil, where .. ": expected a string, a function or a command, got " .. type(given))
  end
  done(vim.trim(given))
end

---The names of the values that a template uses.
---@param template string
---@param names table<string, true>
local function collect(template, names)
  for name in template:gmatch("%${([%w_]+)}") do
    names[name] = true
  end
end

---Finds what the templates use, one after another.
---@param adapter lathe.Adapter
---@param templates string[]
---@param given table<string, string> values that hold for this request only
---@param waiting lathe.KeyWaiting
---@param done fun(values: table<string, string>?, fault: string|lathe.Fault|nil)
function M.resolve(adapter, templates, given, waiting, done)
  M.conceal(vim.tbl_values(given))
  local values = found[adapter] or {}
  found[adapter] = values
  local names = {}
  for _, template in ipairs(templates) do
    collect(template, names)
  end
  local missing = {}
  for name in pairs(names) do
    if given[name] == nil and values[name] == nil then
      missing[#missing + 1] = name
    end
  end
  table.sort(missing)
  local function next_one(at)
    local name = missing[at]
    if not name then
      return done(vim.tbl_extend("force", values, given))
    end
    find(adapter, name, waiting, function(value, message)
      if not value then
        return done(nil, message)
      end
      values[name] = value
      M.conceal({ value })
      next_one(at + 1)
    end)
  end
  next_one(1)
end

---@param template string
---@param values table<string, string>
---@return string
function M.fill(template, values)
  return (template:gsub("%${([%w_]+)}", function(name)
    return values[name]
  end))
end

return M
