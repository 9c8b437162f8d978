-- What the engine wants done in Lua: the performers of its effects, one short function each. No decision is made in them;
-- each is called protected, with the address of the effect and a table of fields, and may find its chat or call gone.
local M = {}

local core = require("lathe.core")
local log = require("lathe.log")
local notify = require("lathe.notify")

local conversation = require("lathe.chat.effects.conversation")
local tool_calls = require("lathe.chat.effects.tool_calls")
local turns = require("lathe.chat.effects.turns")

---@param chats table<integer, lathe.Chat> by id
---@param perform fun(chat: lathe.Chat, o: table?): any
---@return fun(chat: integer, o: table?): any
local function for_chat(chats, perform)
  return function(id, o)
    local chat = chats[id]
    if chat then
      return perform(chat, o)
    end
  end
end

---@param chats table<integer, lathe.Chat> by id
---@param perform fun(chat: lathe.Chat, call: lathe.Call, o: table?): any
---@param gone any
---@return fun(chat: integer, call: integer, o: table?): any
local function for_call(chats, perform, gone)
  return function(id, call_id, o)
    local chat = chats[id]
    local call = chat and chat.calls[call_id]
    if not call then
      return gone
    end
    return perform(chat, call, o)
  end
end

---The performers of the engine's effects.
---@param chats table<integer, lathe.Chat> by id
---@return lathe.Performers
function M.performers(chats)
  local P = {}
  for _, room in ipairs({ turns, conversation, tool_calls }) do
    for name, perform in pairs(room.chats) do
      P[name] = for_chat(chats, perform)
    end
  end
  for name, perform in pairs(tool_calls.calls) do
    P[name] = for_call(chats, perform, tool_calls.gone[name])
  end

  function P.add_call(id, call_id, o)
    local chat = chats[id]
    if chat then
      tool_calls.add(chat, call_id, o)
    end
  end

  function P.close_chat(id)
    local chat = chats[id]
    if chat then
      chat.render:settle()
      chats[id] = nil
      turns.close(chat)
    end
  end

  P.reply = core.deliver
  P.tell = notify.error

  function P.log(level, text)
    local write = log[level]
    write(text)
    if level == "error" then
      notify.error("internal error, see `:Lathe log`")
    end
  end

  return P
end

return M
