-- Tool definitions: where they come from and what they must look like. Which of them a chat uses is in `registry.lua`,
-- how a message names them in `mentions.lua`, how one runs in `call.lua`.
local M = {}

local api = vim.api

local native = require("lathe.native.records")

---Counts changes of the definitions; what is derived from them is made anew when it moved.
M.version = 0

local registered = {} ---@type table<string, table> entries of `register_tool`
local registered_groups = {} ---@type table<string, table>

---@class lathe.ResolvedTool
---@field entry table
---@field source table? what the entry led to
---@field schema table? its schema at that time
---@field tool lathe.Tool?
---@field message string?

local resolved = {} ---@type table<string, lathe.ResolvedTool>

---@return table<string, table|false>
local function configured()
  return require("lathe.config").get().interactions.chat.tools
end

---@param name string
---@return table? entry
local function entry_of(name)
  if name == "opts" or name == "groups" then
    return nil
  end
  local entry = registered[name]
  if entry == nil then
    entry = configured()[name]
  end
  if entry == nil then
    entry = native.tool(name)
  end
  return entry or nil
end

---Makes a tool known besides those of `setup`; it replaces one of the same name.
---@param name string
---@param entry table as in `interactions.chat.tools`
function M.register(name, entry)
  registered[name] = entry
  M.version = M.version + 1
end

---Makes a group known besides those of `setup`; it replaces one of the same name.
---@param name string
---@param group lathe.ToolGroup as in `interactions.chat.tools.groups`
function M.register_group(name, group)
  registered_groups[name] = group
  M.version = M.version + 1
end

---The entry of a tool, registered or configured.
---@param name string
---@return table?
function M.entry(name)
  return entry_of(name)
end

---Definitions may have changed: forget what was derived from them.
function M.reload()
  resolved = {}
  M.version = M.version + 1
end

M.readable = require("lathe.readable").text

---@param err any
---@return string
local function with_trace(err)
  return M.readable(err) .. debug.traceback("", 2)
end

-- Sources ------------------------------------------------------------------------------------------------------------

---@param path string
---@param ... any what to call the chunk with
---@return any
local function run_file(path, ...)
  local chunk, reason = loadfile(path)
  if not chunk then
    error(reason, 0)
  end
  return chunk(...)
end

---Loads what `path` names: a module of the runtime path or of Lua's path, else a file. Never one of the working
---directory: nothing of a repository runs without trust.
---@param path string
---@return any
local function load_path(path)
  local tried = {}
  if path:find("^[%w_%-]+[%w_%-%.]*$") and not path:find("%.lua$") then
    if package.loaded[path] ~= nil or package.preload[path] then
      return require(path)
    end
    local as_file = path:gsub("%.", "/")
    for _, tail in ipairs({ ".lua", "/init.lua" }) do
      local found = api.nvim_get_runtime_file("lua/" .. as_file .. tail, false)[1]
      if found and found:sub(1, 1) == "/" then
        return require(path)
      end
    end
    local absolute = {}
    for template in package.path:gmatch("[^;]+") do
      if template:sub(1, 1) == "/" then
        absolute[#absolute + 1] = template
      end
    end
    local file = package.searchpath(path, table.concat(absolute, ";"))
    if file then
      return run_file(file, path)
    end
    tried[1] = ("module %s"):format(path)
  end
  local file = vim.fs.normalize(path)
  if file:sub(1, 1) ~= "/" then
    file = vim.fn.stdpath("config") .. "/" .. file
  end
  if vim.uv.fs_stat(file) then
    return run_file(file)
  end
  tried[#tried + 1] = file
  error(("path %q was not found; tried %s"):format(path, table.concat(tried, ", ")), 0)
end

---@param entry table
---@return any
local function load_entry(entry)
  local source = entry.callback
  if type(source) == "function" then
    return source()
  elseif type(source) == "string" then
    return load_path(source)
  elseif type(source) == "table" then
    return source
  elseif entry.path ~= nil then
    if type(entry.path) ~= "string" then
      error("path: expected a string, got " .. type(entry.path), 0)
    end
    return load_path(entry.path)
  end
  return entry
end

-- Definitions --------------------------------------------------------------------------------------------------------

local functions = {
  handlers = { "setup", "prompt_condition", "on_exit" },
  output = { "success", "error", "prompt", "rejected", "cancelled", "cmd_string" },
  gates = { "is_safe", "judge_context" },
}

---@param ok boolean
---@param format string
---@param ... any
local function expect(ok, format, ...)
  if not ok then
    error(format:format(...), 0)
  end
end

---Throws what is wrong with a definition.
---@param name string
---@param tool any
local function check(name, tool)
  expect(type(tool) == "table", "expected a table, got %s", type(tool))
  expect(tool.name == nil or tool.name == name, "name: is %s, must be as in the config", vim.inspect(tool.name))
  expect(type(tool.schema) == "table", "schema: expected a table, got %s", type(tool.schema))
  local fn = tool.schema["function"]
  expect(type(fn) == "table", 'schema["function"]: expected a table, got %s', type(fn))
  expect(fn.name == name, 'schema["function"].name: is %s, must be as in the config', vim.inspect(fn.name))
  local parameters = fn.parameters
  expect(parameters == nil or type(parameters) == "table", "parameters: expected a table, got %s", type(parameters))
  expect(tool.cmds == nil or type(tool.cmds) == "table", "cmds: expected a list, got %s", type(tool.cmds))
  expect(tool.env == nil or type(tool.env) == "function", "env: expected a function, got %s", type(tool.env))
  for part, names in pairs(functions) do
    local given = tool[part]
    expect(given == nil or type(given) == "table", "%s: expected a table, got %s", part, type(given))
    for _, key in ipairs(given and names or {}) do
      local value = given[key]
      expect(value == nil or type(value) == "function", "%s.%s: expected a function, got %s", part, key, type(value))
    end
  end
end

---@param name string
---@param entry table
---@return lathe.Tool
---@return table source
local function build(name, entry)
  local tool = load_entry(entry)
  local source = tool
  expect(type(tool) == "table", "expected a table, got %s", type(tool))
  local extends = tool.extends or entry.extends
  if extends ~= nil then
    expect(extends == "cmd_tool", 'extends: there is no %s, only "cmd_tool"', vim.inspect(extends))
    tool = require("lathe.tools.cmd_tool").extend(name, tool)
  end
  check(name, tool)
  local opts = entry.opts
  local own = tool.opts
  expect(opts == nil or type(opts) == "table", "opts: expected a table, got %s", type(opts))
  expect(own == nil or type(own) == "table", "opts: expected a table, got %s", type(own))
  opts = vim.tbl_extend("force", own or {}, opts or {})
  -- They loosen or tighten the gate for the user, so only the user's own entry counts.
  for _, key in ipairs({ "protect", "require_cmd_approval" }) do
    if not entry.opts or entry.opts[key] == nil then
      opts[key] = nil
    end
  end
  local limit = opts.timeout
  expect(
    limit == nil or limit == false or (type(limit) == "number" and limit >= 1),
    "opts.timeout: expected milliseconds or false, got %s",
    vim.inspect(limit)
  )
  local result = {} ---@type lathe.Tool
  for key, value in pairs(tool) do
    result[key] = value
  end
  result.name, result.opts, result.cmds = name, opts, tool.cmds or {}
  result.description = entry.description or tool.description
  return result, source
end

---The definition of a tool. One that is wrong is told once and stays unusable until it changes.
---@param name string
---@param quiet boolean? do not tell the user
---@return lathe.Tool? tool to be copied, not to be written to
---@return string? message for the user; nil also when there is no such tool
function M.resolve(name, quiet)
  local entry = entry_of(name)
  if not entry then
    return nil
  end
  if entry.native then -- it comes whole
    return entry
  end
  local known = resolved[name]
  if known and known.entry == entry and (not known.tool or known.source.schema == known.schema) then
    return known.tool, known.message
  end
  local ok, tool, source = xpcall(build, with_trace, name, entry)
  if ok then
    resolved[name] = { entry = entry, source = source, schema = source.schema, tool = tool }
    return tool
  end
  local fault = tostring(tool)
  local first = fault:match("^(.-)\nstack traceback:") or fault
  local message = ('tool "%s": %s'):format(name, first)
  require("lathe.log").error(message .. fault:sub(#first + 1))
  if not quiet then
    require("lathe.notify").error(message)
  end
  resolved[name] = { entry = entry, message = message }
  return nil, message
end

---What a definition was made from: the table that its author wrote.
---@param name string
---@return table?
function M.source(name)
  local known = resolved[name]
  return known and known.source
end

---Who made a tool, as events tell it.
---@param name string
---@return "builtin"|"lua"|"native"
function M.source_kind(name)
  local entry = entry_of(name)
  if entry and entry.native then
    return "native"
  end
  local path = entry and entry.callback == nil and entry.path
  return type(path) == "string" and vim.startswith(path, "lathe.tools.builtin.") and "builtin" or "lua"
end

---Why a tool cannot be used although nothing is wrong with it.
---@param name string
---@param chat lathe.Chat?
---@return string? reason nil: it is on
---@return boolean? failed its `enabled` threw
function M.why_disabled(name, chat)
  local entry = entry_of(name)
  if not entry then
    return configured()[name] == false and "false" or "there is none"
  end
  local enabled = entry.enabled
  if type(enabled) ~= "function" then
    return enabled == false and "enabled = false" or nil
  end
  local ok, answer = pcall(enabled, chat and chat.adapter)
  if not ok then
    return "enabled failed: " .. M.readable(answer), true
  end
  return not answer and "enabled() says no" or nil
end

---Whether there is such a tool and nothing has turned it off.
---@param name string
---@param chat lathe.Chat?
---@return boolean
function M.is_enabled(name, chat)
  local reason, failed = M.why_disabled(name, chat)
  if failed then
    require("lathe.notify").error(('tool "%s": %s'):format(name, reason))
  end
  return reason == nil
end

---Whether an entry, even a false one, has the name.
---@param name string
---@return boolean
function M.is_configured(name)
  return registered[name] ~= nil or (name ~= "opts" and name ~= "groups" and configured()[name] ~= nil)
end

---Whether a tool, enabled or not, or a group has the name.
---@param name string
---@return boolean
function M.is_known(name)
  if M.is_configured(name) then
    return entry_of(name) ~= nil
  end
  -- No more is asked of a native one: its functions are called when it is listed.
  return native.record(name) ~= nil or M.group(name) ~= nil
end

---A group of tools, as configured.
---@param name string
---@return table? group
function M.group(name)
  return registered_groups[name] or configured().groups[name] or native.group(name)
end

---The names of groups, sorted.
---@return string[]
function M.groups()
  local all = vim.tbl_extend("force", configured().groups, registered_groups)
  for _, name in ipairs(native.groups()) do
    all[name] = true
  end
  local names = vim.tbl_keys(all)
  table.sort(names)
  return names
end

---The names of all tools, on or off, sorted.
---@return string[]
function M.all_names()
  local names = vim.tbl_keys(registered)
  for name in pairs(configured()) do
    if name ~= "opts" and name ~= "groups" and registered[name] == nil then
      names[#names + 1] = name
    end
  end
  for _, name in ipairs(native.names()) do
    if M.is_configured(name) then
      native.tell_hidden(name)
    else
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

---What the user is told of a tool or group besides its name.
---@param name string
---@param may_read boolean whether its definition may be loaded for that
---@return "lua"|"builtin"|"group" source
---@return string? description
function M.about(name, may_read)
  local group = M.group(name)
  if group then
    local names = table.concat(group.tools or {}, ", ")
    return "group", group.description and ("%s (%s)"):format(group.description, names) or names
  end
  local entry, source = entry_of(name) or {}, M.source_kind(name)
  if entry.description then
    return source, entry.description
  end
  local tool = resolved[name] and resolved[name].tool
  if not tool and (may_read or not (entry.path or entry.callback)) then
    tool = M.resolve(name, true)
  end
  return source, tool and (tool.description or tool.schema["function"].description) or entry.path
end

---The names of enabled tools and of groups, sorted.
---@param visible_only boolean? leave out those with `visible = false`
---@param chat lathe.Chat? whose adapter decides
---@return string[]
function M.names(visible_only, chat)
  local names = {}
  for _, name in ipairs(M.all_names()) do
    local entry = entry_of(name)
    if entry and M.why_disabled(name, chat) == nil and not (visible_only and entry.visible == false) then
      names[#names + 1] = name
    end
  end
  for _, name in ipairs(M.groups()) do
    if not vim.list_contains(names, name) then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

return M
