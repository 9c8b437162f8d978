-- Performers for the life of a chat and its turns: the input, requests, notices, the end.
local M = {}

local adapters = require("lathe.adapters")
local conversation = require("lathe.chat.effects.conversation")
local core = require("lathe.core")
local events = require("lathe.events")
local notice_line = require("lathe.chat.draw.notice_line")
local notify = require("lathe.notify")
local permissions = require("lathe.chat.ask.load_rules")
local prompt = require("lathe.chat.input.user_message")
local readable = require("lathe.readable").text
local saving = require("lathe.chat.saving")
local system = require("lathe.chat.system_prompts")
local tools = require("lathe.tools")
local words = require("lathe.words")

local P = {}
M.chats = P

---@param chat lathe.Chat
---@return lathe.TakenInput?
function P.take_input(chat)
  if chat.is_closing then
    return nil
  end
  tools.refresh()
  chat.is_listed = true
  local text, typed = prompt.take(chat)
  saving.note(chat)
  chat.taken = text
  return text and { text = text, typed = typed }
end

function P.hold_input(chat, o)
  chat.render:hold(o.waiting and (next(chat.calls) and "tools" or "answer") or nil)
end

function P.start_turn(chat)
  chat.render:settle() -- the end of the turn before comes first
  chat.is_running = true
  chat.started_ms = vim.uv.now()
  chat.turn = chat.turn + 1
  chat.stderr = {}
  events.emit("ChatSubmitted", chat, { id = chat.turn })
end

---@param chat lathe.Chat
---@param request integer
---@param fault string|lathe.Fault
local function fail(chat, request, fault)
  core.lib.fail_request({
    chat = chat.id,
    request = request,
    message = tostring(fault),
    names_provider = type(fault) == "table" and fault.names_provider or nil,
  })
end

---Asks the adapter for the request and starts it.
---@param chat lathe.Chat
---@param request integer
---@param is_wanted fun(): boolean a key may come late
local function send(chat, request, is_wanted)
  local prompts = system.prompts(chat)
  saving.note(chat)
  adapters.request(chat.adapter, chat, prompts, function(fields, fault)
    if not is_wanted() then
      return
    end
    if not fields then
      return fail(chat, request, fault)
    end
    fields.chat, fields.request, fields.tools = chat.id, request, chat.tool_registry:offered()
    fields.system = prompts
    -- Maybe long after this effect, when nobody else ends the request. The fields are the adapter's.
    local ok, err = pcall(core.lib.start_request, fields)
    if not ok then
      fail(chat, request, "the request does not fit: " .. readable(err))
    end
  end)
end

function P.send_request(chat, o)
  local request = o.request
  conversation.open_llm(chat)
  chat.render:begin_answer()
  chat.render:wait(true)
  events.emit("RequestStarted", chat, { id = request })
  if not chat.adapter then
    chat:find_adapter() -- `setup` may have been called since
  end
  if not chat.adapter then
    return fail(chat, request, chat.adapter_message)
  end
  saving.note(chat) -- a tool may have added others
  chat.request = request
  chat.is_answering = true
  -- After a stop nothing is sent any more.
  local function is_wanted()
    return not chat.is_gone and not chat.is_closing and chat.request == request
  end
  if not chat.is_listed then
    tools.refresh()
  end
  chat.is_listed = false
  chat.tool_registry:gather(function()
    if not is_wanted() then
      return
    end
    -- Before the list is made: they may hide tools from the model.
    permissions.load(chat, function(fault)
      if fault and is_wanted() then
        fail(chat, request, "the permission rules could not be loaded: " .. fault)
      elseif is_wanted() then
        chat.tool_registry:prepare(function()
          if is_wanted() then
            send(chat, request, is_wanted)
          end
        end)
      end
    end)
  end)
end

function P.finish_request(chat, o)
  chat.render:wait(false)
  if not o.failed then
    notice_line.settle(chat)
  end
  if o.usage then
    chat.usage = o.usage
    chat.render:show_usage(chat.usage)
  end
  events.emit("RequestFinished", chat, { id = o.request, status = o.failed and "error" or "success" })
end

---@param chat lathe.Chat
---@param notice lathe.Notice
function P.notify(chat, notice)
  -- Of a chat whose buffer was just deleted nobody wants to hear.
  if not chat.render:is_alive() then
    return
  end
  local kind = notice.kind
  local text, aside = words.in_chat(notice), words.aside(notice)
  if text then
    chat:notice(text)
  elseif aside then
    notify.info(aside)
  elseif kind == "request_failed" then
    chat.failure = words.failure(nil, notice.failure)
    chat:tell_if_hidden(notice_line.failed(chat, notice.failure))
  elseif kind == "retrying" then
    notice_line.retry(chat, notice)
  elseif kind == "refused" then
    notice_line.refused(chat, notice.message)
  elseif kind == "request" then
    chat:tell_if_hidden(notice_line.about_request(chat, notice.message))
  end
end

function P.finish_turn(chat, o)
  local how = o.how
  chat.is_running = false
  chat.request = nil
  chat.render:wait(false)
  chat.render:hold(nil)
  if how == "stopped" and chat.is_answering then
    notice_line.show(chat, "stopped", nil, "stopped") -- else what is there looks like a whole answer
  end
  chat.is_answering = false
  local turn = chat.turn
  -- Who hears of the end may read the buffer.
  chat.render:when_written(function()
    events.emit(how == "stopped" and "ChatStopped" or "ChatDone", chat, { id = turn, status = how })
    if chat.on_turn_finished then
      chat.on_turn_finished(how)
    end
  end)
end

function P.clear_chat(chat)
  chat:was_cleared()
end

---A chat that is not in the list of chats any more.
---@param chat lathe.Chat
function M.close(chat)
  chat.is_gone = true
  chat:close() -- does nothing when it was this that closed it
  events.emit("ChatClosed", chat)
  if chat.on_turn_finished then
    chat.on_turn_finished("closed")
  end
end

return M
