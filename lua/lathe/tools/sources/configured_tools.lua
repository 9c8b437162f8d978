-- The source of the tools and groups in `interactions.chat.tools`.
local config = require("lathe.config")
local lua_entries = require("lathe.tools.lua_entries")

local own = { opts = true, groups = true } -- names in there that are no tools

return (
  lua_entries.new({
    entries = function()
      local entries = {}
      for name, entry in pairs(config.get().interactions.chat.tools) do
        if not own[name] then
          entries[name] = entry
        end
      end
      return entries
    end,
    entry = function(name)
      return not own[name] and config.get().interactions.chat.tools[name]
    end,
    groups = function()
      return config.get().interactions.chat.tools.groups
    end,
  })
)
