-- The user's message on its way from the input to the engine: mentions become tools in use and texts for the model. The
-- buffer's text is `render.lua`'s.
local M = {}

local context = require("lathe.chat.input.context")
local mentions = require("lathe.tools.mentions")
local server_mentions = require("lathe.chat.input.server_mentions")
local nearest = require("lathe.nearest")
local notify = require("lathe.notify")
local readable = require("lathe.readable").text
local tools = require("lathe.tools")

---@param chat lathe.Chat
---@param text string
---@return string replaced
---@return string[] names
---@return string[] unknown
local function mentioned(chat, text)
  return mentions.replace(text, function(name)
    return chat.tool_registry:real_name(name) or false
  end)
end

---@param chat lathe.Chat
---@param text string
local function add_tools(chat, text)
  local _, names, unknown = mentioned(chat, text)
  for _, name in ipairs(names) do
    local fault = chat.tool_registry:use(name)
    if fault then
      notify.fault(fault, "warn")
    end
  end
  for _, name in ipairs(unknown) do
    local near = nearest.name(name, tools.names(false, chat))
    local hint = near and (" Did you mean @{%s}?"):format(near) or ""
    notify.warn(('There is no tool or group "%s".%s%s'):format(name, hint, tools.excuse()))
    chat.tool_registry:expect(name)
  end
end

---@param chat lathe.Chat
---@param typed string
---@return string text for the model
---@return string[] faults
---@return string[] cuts
local function resolve(chat, typed)
  local resource = server_mentions.take_read(chat)
  local text, blocks, faults, cuts = context.resolve((mentioned(chat, typed)), chat.limits, chat.cwd, resource)
  table.insert(blocks, 1, text)
  return table.concat(blocks, "\n\n"), faults, cuts
end

---@param faults string[]
local function refuse(faults)
  notify.warn("The message was not sent: " .. table.concat(faults, "\n"))
end

---Whether the input can be sent; if not, the user is told why. An empty one can: that is for the engine to judge.
---@param chat lathe.Chat
---@return boolean
function M.check(chat)
  local text = chat.render:input()
  local faults = text and context.faults(text, chat.cwd) or {}
  if faults[1] then
    refuse(faults)
  end
  return not faults[1]
end

---Takes what the user has typed. When what it mentions is not there it stays in the input, and the user is told.
---@param chat lathe.Chat
---@return string? text for the model; nil when there is none
---@return string? typed what the user typed
function M.take(chat)
  local function again()
    chat:submit()
  end
  if chat.render:when_open(again) then -- the user is writing it still: it stays, and goes out next time
    return nil
  end
  local typed = chat.render:input()
  if not typed then
    return nil
  end
  -- A definition that is wrong in a way that nobody foresaw must not lose what the user has typed.
  local ok, text, faults, cuts = pcall(resolve, chat, typed)
  if not ok then
    notify.error("what a message mentions could not be added: " .. readable(text))
    text, faults, cuts = typed, {}, {}
  end
  if faults[1] then
    refuse(faults)
    return nil
  end
  chat.render:take_input()
  ok, faults = pcall(add_tools, chat, typed)
  if not ok then
    notify.error("the tools of a message could not be added: " .. readable(faults))
  end
  for _, cut in ipairs(cuts) do
    chat:notice(cut)
  end
  return text, typed
end

return M
