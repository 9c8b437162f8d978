-- The user's message on its way from the input to the engine: mentions become tools in use. The buffer's text is
-- `render.lua`'s.
local M = {}

local mentions = require("lathe.tools.mentions")
local native = require("lathe.native.chat")
local tools = require("lathe.tools")

---Offers what a message mentions to the model.
---@param chat lathe.Chat
---@param text string
---@return string text for the model
function M.resolve(chat, text)
  local replaced, names, unknown = mentions.replace(text, function(name)
    return chat.tool_registry:knows(name)
  end)
  for _, name in ipairs(names) do
    local ok, message, told = chat.tool_registry:add(name)
    if not ok and message and not told then
      require("lathe.notify").warn(message)
    end
  end
  replaced = native.insert(chat, replaced)
  for _, name in ipairs(unknown) do
    require("lathe.notify").warn(('There is no tool or group "%s".'):format(name))
  end
  return replaced
end

---Takes what the user has typed.
---@param chat lathe.Chat
---@return string? text for the model; nil when there is none
---@return string? typed what the user typed
function M.take(chat)
  local text = chat.render:take_input()
  if not text then
    return nil
  end
  -- A definition that is wrong in a way that nobody foresaw must not lose what the user has typed.
  local ok, resolved = pcall(M.resolve, chat, text)
  if not ok then
    require("lathe.notify").error("the tools of a message could not be added: " .. tools.readable(resolved))
  end
  return ok and resolved or text, text
end

return M
