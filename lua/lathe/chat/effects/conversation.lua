-- Performers for what is said: text as it comes, messages that join the history, a saved conversation that comes back.
local M = {}

local block = require("lathe.chat.draw.block")
local context = require("lathe.chat.input.context")
local events = require("lathe.events")
local notice_line = require("lathe.chat.draw.notice_line")
local words = require("lathe.words")

local P = {}
M.chats = P

---Opens the assistant's heading if needed.
---@param chat lathe.Chat
function M.open_llm(chat)
  if chat.render.role ~= "llm" then
    chat.render:open_role("llm", chat:heading("llm"))
  end
end

---Adds a call to the newest message of the model.
---@param chat lathe.Chat
---@param o { wire_id: string, name: string, arguments: string }
---@return lathe.FunctionCall
function M.append_call(chat, o)
  local function_call = { id = o.wire_id, type = "function", ["function"] = { name = o.name, arguments = o.arguments } }
  local message = chat.last_llm
  if message then
    local list = message.tools
    if not list then
      list = { calls = {} }
      message.tools = list
    end
    list = list.calls
    list[#list + 1] = function_call
  end
  return function_call
end

---The first of an answer has come.
---@param chat lathe.Chat
local function note_stream(chat)
  if chat.streamed ~= chat.request then
    chat.streamed = chat.request
    events.note("streaming", chat, { id = chat.request })
  end
end

function P.show_text(chat, o)
  note_stream(chat)
  M.open_llm(chat)
  notice_line.settle(chat)
  chat.render:add_text(o.text, "text")
end

function P.show_reasoning(chat, o)
  note_stream(chat)
  if chat.display.chat.show_reasoning then
    M.open_llm(chat)
    notice_line.settle(chat)
    chat.render:add_text(o.text, "reasoning")
  end
end

function P.show_provider_call(chat, o)
  M.open_llm(chat)
  local state = o.is_error and "error" or "success"
  chat.render:add_call({
    kind = "call",
    state = state,
    head = block.one_line(o.label ~= "" and o.name .. "  " .. o.label or o.name),
    is_live = false,
    body = o.output ~= "" and { o.output } or false,
    question = false,
    fact = "by the provider",
    look = nil,
  })
  events.emit("ToolFinished", chat, { tool = o.name, source = "provider", status = state })
end

local was_typed = setmetatable({}, { __mode = "k" }) ---@type table<lathe.Message, true> messages from the input

---Extends the chat's list.
---@param chat lathe.Chat
---@param o lathe.NewMessage
---@return lathe.Message
local function append_message(chat, o)
  local message = { role = o.role, content = o.content, opts = { visible = o.visible }, _meta = {} }
  chat.messages[#chat.messages + 1] = message
  if o.role == "tool" then
    message.tools = { call_id = o.call_id, is_error = o.is_error }
  elseif o.role == "llm" then
    chat.last_llm = message
    message.reasoning = o.reasoning and { content = o.reasoning }
  elseif o.role == "user" then
    message._meta.typed = o.typed
  end
  return message
end

---@param chat lathe.Chat
---@param o lathe.NewMessage
function P.add_message(chat, o)
  local message = append_message(chat, o)
  if o.role == "llm" then
    -- The model's own text has been shown as it came.
    if chat.given[1] == o.content and o.visible then
      table.remove(chat.given, 1)
      chat:add_buf_message(message)
    end
  elseif o.role == "user" then
    if chat.taken == o.content then
      chat.taken, was_typed[message] = nil, true
    elseif o.visible then
      chat.render:add_user(chat:heading("user"), o.content)
    end
  end
end

function P.take_back_message(chat)
  chat.messages[#chat.messages] = nil
  chat.last_llm = nil
  chat.render:cut_answer()
end

function P.truncate_history(chat, o)
  local message = chat.messages[o.kept + 1]
  for i = #chat.messages, o.kept + 1, -1 do
    chat.messages[i] = nil
  end
  chat.last_llm = nil
  chat.render:cut_to_last_message()
  -- What did not come from there has no mentions.
  local typed = message._meta.typed or was_typed[message] and message.content
  chat.render:add_input(typed or context.plain(message.content))
end

---@param chat lathe.Chat
---@param o lathe.NewMessage
function P.restore_message(chat, o)
  append_message(chat, o)
  if o.role == "user" and o.visible then
    chat.render:add_user(chat:heading("user"), o.typed or o.content)
  elseif o.role == "llm" then
    M.open_llm(chat)
    chat.render:begin_answer()
    if o.reasoning and chat.display.chat.show_reasoning then
      chat.render:add_text(o.reasoning, "reasoning")
      chat.render:finish_reasoning()
    end
    if o.content ~= "" then
      chat.render:add_text(o.content, "text")
    end
  end
end

---@param chat lathe.Chat
---@param o lathe.RestoredCall
function P.restore_call(chat, o)
  local source = M.append_call(chat, o)
  M.open_llm(chat)
  local head = o.head
  if head == "" then
    head = o.name .. (o.arguments ~= "{}" and "  " .. o.arguments or "")
  end
  chat.cut_files[o.wire_id] = o.files
  local state, fact = words.restored(o)
  chat.render:add_call({
    kind = "call",
    state = state,
    head = block.one_line(head),
    is_live = false,
    body = o.body and o.body ~= "" and { o.body } or false,
    question = false,
    source = source,
    fact = fact and block.one_line(fact) or nil,
    bytes = o.body and #o.body or 0,
  })
end

return M
