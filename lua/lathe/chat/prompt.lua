-- The user's message on its way from the input to the engine: mentions become tools in use. The buffer's text is
-- `render.lua`'s.
local M = {}

local tools = require("lathe.tools")

---Offers what a message mentions to the model.
---@param chat lathe.Chat
---@param text string
---@return string text for the model
function M.resolve(chat, text)
  local replaced, names, unknown = tools.mentions(text)
  for _, name in ipairs(names) do
    local ok, message, told = chat.tool_registry:add(name)
    if not ok and message and not told then
      require("lathe.notify").warn(message)
    end
  end
  for _, name in ipairs(unknown) do
    require("lathe.notify").warn(('There is no tool or group "%s".'):format(name))
  end
  return replaced
end

---Takes what the user has typed.
---@param chat lathe.Chat
---@return string? text for the model; nil when there is none
function M.take(chat)
  local text = chat.render:take_input()
  return text and M.resolve(chat, text)
end

return M
