-- The source of the tools and groups that `register_tool` and other plugins have made known.
local lua_entries = require("lathe.tools.lua_entries")

local entries = {} ---@type table<string, table|false>
local groups = {} ---@type table<string, lathe.ToolGroup>

local source, changed = lua_entries.new({
  entries = function()
    return entries
  end,
  entry = function(name)
    return entries[name]
  end,
  groups = function()
    return groups
  end,
})

---@class lathe.RegisteredTools : lathe.Source
local M = source

local own_version = source.version

---Has a function called whenever somebody asks whether anything has changed: what it registers counts at once.
---@param look fun()
function M.watch(look)
  function source.version()
    look()
    return own_version()
  end
end

---Makes a tool known; it replaces one of the same name.
---@param name string
---@param entry table|false|nil as in `interactions.chat.tools`; false: none of this name counts
function M.register(name, entry)
  entries[name] = entry
  changed()
end

---The entry of a tool that was registered.
---@param name string
---@return table|false|nil
function M.entry(name)
  return entries[name]
end

---Makes a group known; it replaces one of the same name.
---@param name string
---@param group lathe.ToolGroup|false|nil as in `interactions.chat.tools.groups`; false: none of this name counts
function M.register_group(name, group)
  groups[name] = group
  changed()
end

return M
