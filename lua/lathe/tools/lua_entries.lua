-- Tools as their authors write them, in entries of the form of `interactions.chat.tools`: what the sources of
-- configured and of registered tools have in common.
local M = {}

local config = require("lathe.config")
local definition = require("lathe.tools.definition")
local faults = require("lathe.fault")
local log = require("lathe.log")
local notify = require("lathe.notify")
local readable = require("lathe.readable").text

---@class lathe.ResolvedEntry
---@field entry table
---@field source table? what the entry led to
---@field schema table? its schema at that time
---@field opts table the entry's options at that time
---@field tool lathe.Tool?
---@field fault lathe.Fault?
---@field notice lathe.Fault? what the user should know of one that can be used

---@param err any
---@return string
local function with_trace(err)
  return readable(err) .. debug.traceback("", 2)
end

---@param name string
---@param entry table
---@return lathe.ResolvedEntry
local function resolve(name, entry)
  local ok, tool, source, notice = xpcall(definition.build, with_trace, name, entry)
  if ok then
    notice = notice and faults.new(('tool "%s": %s'):format(name, notice))
    local opts = vim.tbl_extend("force", {}, entry.opts or {})
    return { entry = entry, source = source, schema = source.schema, opts = opts, tool = tool, notice = notice }
  end
  local text = tostring(tool)
  local first = text:match("^(.-)\nstack traceback:") or text
  local message = ('tool "%s": %s'):format(name, first)
  log.error(message .. text:sub(#first + 1))
  return { entry = entry, fault = faults.new(message) }
end

---Whether something else stands in a table that was read: an author may put another schema there at any time, and code other
---options into an entry.
---@param known lathe.ResolvedEntry
---@return boolean
local function has_changed(known)
  if known.source.schema ~= known.schema then
    return true
  end
  local opts = known.entry.opts or {}
  for key, value in pairs(opts) do
    if known.opts[key] ~= value then
      return true
    end
  end
  for key in pairs(known.opts) do
    if opts[key] == nil then
      return true
    end
  end
  return false
end

---What lists say of an entry.
---@param name string
---@param entry table|false
---@return lathe.ListedTool
local function listed(name, entry)
  if not entry then
    return { name = name, kind = "lua", off = "false" }
  end
  local path = entry.callback == nil and entry.path
  local is_builtin = type(path) == "string" and vim.startswith(path, "lathe.tools.builtin.")
  return {
    name = name,
    kind = is_builtin and "builtin" or "lua",
    enabled = entry.enabled,
    is_visible = entry.visible ~= false,
    description = entry.description,
    place = entry.path,
    is_loaded = not (entry.path or entry.callback),
  }
end

---Makes a source of entries.
---@param given { entries: fun(): table<string, table|false>, entry: fun(name: string): table|false|nil,
---  groups: fun(): table<string, lathe.ToolGroup> }
---@return lathe.Source
---@return fun() changed to be called when they have changed
function M.new(given)
  local version, used_config, list = 0, nil, nil ---@type integer, lathe.Config?, lathe.SourceList?
  local resolved = {} ---@type table<string, lathe.ResolvedEntry>

  local function changed()
    version, list = version + 1, nil
  end

  local source = { name = "lua" } ---@type lathe.Source

  function source.version()
    local current = config.get()
    if used_config ~= current then
      -- Files may have been written anew before `setup` was called again.
      used_config, resolved = current, {}
      changed()
    end
    return version
  end

  function source.list()
    if not list then
      list = { tools = {}, groups = {} }
      for name, entry in pairs(given.entries()) do
        list.tools[#list.tools + 1] = listed(name, entry)
      end
      for name, group in pairs(given.groups()) do
        list.groups[#list.groups + 1] = { name = name, group = group or nil }
      end
    end
    return list
  end

  function source.resolve(name, _, is_quiet)
    local entry = given.entry(name)
    if not entry then
      return nil
    end
    local known = resolved[name]
    if not known or known.entry ~= entry or (known.tool and has_changed(known)) then
      known = resolve(name, entry)
      resolved[name] = known
    end
    if known.fault and not is_quiet then
      notify.fault(known.fault, "error")
    elseif known.notice and not is_quiet then
      notify.fault(known.notice, "warn")
    end
    return known.tool and { tool = known.tool }, known.fault
  end

  -- Tables that authors write to are looked at whenever a tool is resolved.
  function source.refresh() end

  function source.status()
    return { state = "ready" }
  end

  return source, changed
end

return M
