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

---Makes a tool known; it replaces one of the same name.
---@param name string
---@param entry table as in `interactions.chat.tools`
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
---@param group lathe.ToolGroup as in `interactions.chat.tools.groups`
function M.register_group(name, group)
  groups[name] = group
  changed()
end

return M
