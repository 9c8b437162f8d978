-- `require("lathe.compat.mcphub").enable()`: code that says `require("mcphub").add_tool(…)` registers with our native
-- servers. Never active by itself, and never when the real plugin is there.
local M = {}

local NAME = "mcphub"

local alias = require("lathe.compat.alias").new(NAME, "lathe-native-mcphub")

local functions = {
  "add_server",
  "add_tool",
  "add_resource",
  "add_resource_template",
  "add_prompt",
  "is_native_server",
  "on",
  "off",
}

---@return table
local function load()
  local native = require("lathe.native")
  local module = {}
  for _, name in ipairs(functions) do
    module[name] = function(first, ...)
      local is_new = vim.startswith(name, "add_") and not native.is_native_server(first)
      local value, err = native[name](first, ...)
      if is_new and value then
        -- Handlers that were written for the original see the caller that they know.
        value.caller_type = "codecompanion"
      end
      return value, err
    end
  end
  return setmetatable(module, {
    __index = function(_, key)
      alias.unsupported(("%s.%s"):format(NAME, tostring(key)))
    end,
  })
end

---From now on `require("mcphub")` is ours, unless the real plugin is there.
function M.enable()
  alias.enable({ [NAME] = load })
end

return M
