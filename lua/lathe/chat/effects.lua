-- What the engine wants done in Lua, one short function each. No decision is made here; each is called protected, with
-- scalars, and may find its chat, call or buffer gone.
local M = {}

local adapters = require("lathe.adapters")
local approval = require("lathe.chat.ask.question")
local block = require("lathe.chat.draw.block")
local calls = require("lathe.tools.call")
local context = require("lathe.chat.input.context")
local core = require("lathe.core")
local events = require("lathe.events")
local gate = require("lathe.tools.gate_facts")
local jobs = require("lathe.tools.jobs")
local judge = require("lathe.chat.ask.judge")
local log = require("lathe.log")
local notice = require("lathe.chat.draw.notice_line")
local notify = require("lathe.notify")
local permissions = require("lathe.chat.ask.load_rules")
local prompt = require("lathe.chat.input.user_message")
local saving = require("lathe.chat.saving")
local system = require("lathe.chat.system_prompts")
local tools = require("lathe.tools")

---What follows is the model's.
---@param chat lathe.Chat
local function open_llm(chat)
  if chat.render.role ~= "llm" then
    chat.render:open_role("llm", chat:heading("llm"))
  end
end

---@param chat lathe.Chat
---@param call lathe.Call
---@param state string
local function show_call(chat, call, state)
  local label = calls.label(call)
  local call_block = {
    kind = "call",
    state = state,
    head = block.one_line(label and call.name .. "  " .. label or call.name),
    is_live = true,
    body = call.body or false,
    question = false,
    source = call.function_call,
    call = call,
    fact = nil,
    range = nil,
    look = nil,
  }
  call.block = call_block
  open_llm(chat)
  chat.render:add_call(call_block)
end

---What the right edge says about how a call ended.
---@param call lathe.Call
---@param status lathe.CallStatus
---@param duration_ms integer
---@return string?
local function fact_of(call, status, duration_ms)
  if status == "success" or status == "error" then
    local ms = calls.elapsed_ms(call)
    return ms and block.duration(ms)
  elseif status == "rejected" then
    return call.reason and ('rejected: "%s"'):format(block.one_line(call.reason)) or "rejected"
  elseif status == "cancelled" or status == "denied" or not call.started_ns then
    return status == "timeout" and "timed out" or status
  elseif status == "timeout" then
    return "timed out at " .. block.duration(duration_ms)
  end
  return ("%s at %s"):format(status, block.clock(calls.elapsed_ms(call)))
end

-- Statuses whose text says more than the line does.
local has_text = { success = true, error = true, timeout = true, denied = true }

---@param chat lathe.Chat
---@param call lathe.Call
---@param status lathe.CallStatus
---@param content string?
---@param duration_ms integer
local function show_end(chat, call, status, content, duration_ms)
  local was_prepared = call.block and true or false
  if not was_prepared then
    show_call(chat, call, status)
  end
  local call_block = call.block
  call_block.is_live, call_block.call = false, nil
  call_block.question = false
  call_block.state = status
  call_block.fact = fact_of(call, status, duration_ms)
  local rule = status == "denied" and content and content:match("^denied by rule [^\n]-%b()")
  if rule then -- the line says it all; `gV` shows what the model has read
    call_block.fact, content = block.one_line(rule), nil
  end
  if content and call.command and not has_text[status] then
    -- That it was ended is told by the line; what it had printed is not.
    content = content:match("What it had printed:\nstdout:\n(.*%S)") or content:match("What it had printed:\n(.*%S)")
  end
  if content and (has_text[status] or call.command) then
    if not was_prepared then
      call_block.state = "invalid"
      local first, rest = content:match("^([^\n]*)\n?(.*)$")
      call_block.head = block.one_line(call_block.head .. "  " .. first)
      content = rest ~= "" and rest or nil
    end
    local body = call_block.body or {}
    if content == "Error calling " .. call.name and call.failure ~= nil then
      -- The model is told the documented default; the user wants to know why.
      content = content .. ": " .. calls.readable(call.failure)
    end
    body[#body + 1] = content
    call_block.body = body
  end
  chat.render:change_call(call_block)
end

---How a call that is over looks, to be saved.
---@param call_block lathe.Block
---@return string state
---@return string head
---@return string? fact
---@return string? body
local function look_of(call_block)
  local body = call_block.body
  return call_block.state, call_block.head, call_block.fact or nil, body and table.concat(body, "\n") or nil
end

local was_typed = setmetatable({}, { __mode = "k" }) ---@type table<lathe.Message, true> messages from the input

---Extends the chat's list.
---@param chat lathe.Chat
---@param role "user"|"system"|"llm"|"tool"
---@return lathe.Message
local function append_message(chat, role, content, wire_id, is_error, visible, reasoning, typed)
  local message = { role = role, content = content, opts = { visible = visible }, _meta = {} }
  chat.messages[#chat.messages + 1] = message
  if role == "tool" then
    message.tools = { call_id = wire_id, is_error = is_error or false }
  elseif role == "llm" then
    chat.last_llm = message
    message.reasoning = reasoning and reasoning ~= "" and { content = reasoning } or nil
  elseif role == "user" then
    message._meta.typed = typed
  end
  return message
end

---Adds a call to the newest message of the model.
---@param chat lathe.Chat
---@param wire_id string
---@param name string
---@param arguments string
---@return lathe.FunctionCall
local function append_call(chat, wire_id, name, arguments)
  local function_call = { id = wire_id, type = "function", ["function"] = { name = name, arguments = arguments } }
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

-- What a call that is over can look like.
local final = {}
for _, state in ipairs({
  "success",
  "error",
  "invalid",
  "rejected",
  "denied",
  "cancelled",
  "stopped",
  "skipped",
  "timeout",
}) do
  final[state] = true
end

---@param chat lathe.Chat
---@param kind string
---@param text string?
---@param attempt integer? of `retrying`
---@param of integer?
---@param wait_ms integer?
local function tell(chat, kind, text, attempt, of, wait_ms)
  if kind == "request_failed" then
    chat.failure = text or "the request failed"
    chat:tell_if_hidden(notice.failed(chat, chat.failure))
  elseif kind == "retrying" then
    notice.retry(chat, text or "", attempt or 1, of or 1, wait_ms or 0)
  elseif kind == "length_stop" then
    chat:notice("The answer ends here: the limit on tokens was reached. Raise it in the adapter, or ask to go on.")
  elseif kind == "content_filter" then
    chat:notice(notice.with_reason("The answer ends here: the provider's content filter stopped it", text))
  elseif kind == "refused" then
    notice.refused(chat, text)
  elseif kind == "ended_for" then
    chat:notice(notice.with_reason("The answer ends here, for a reason of the provider's", text))
  elseif kind == "request" then
    chat:tell_if_hidden(notice.about_request(chat, text or ""))
  elseif kind == "call_as_text" then
    chat:notice("The model wrote a tool call as text. Nothing was run.")
  elseif kind == "repeated_call" then
    chat:notice(("The model repeats a call of %s that cannot run. Nothing was sent."):format(text or "a tool"))
  elseif kind == "restored" or kind == "saving" then
    chat:notice(text or "")
  elseif kind == "nothing_to_send" then
    notify.info("there is nothing to send")
  elseif kind == "nothing_to_skip" then
    notify.info("no call is running")
  elseif kind == "nothing_to_edit" then
    notify.info("there is no message to edit")
  elseif kind == "still_running" then
    notify.info("the chat is running: stop it first, or wait")
  end
end

---Asks the adapter for the request and starts it.
---@param chat lathe.Chat
---@param request integer
---@param is_wanted fun(): boolean a key may come late
local function send(chat, request, is_wanted)
  local prompts = system.prompts(chat)
  adapters.request(chat.adapter, chat, prompts, function(fields, message)
    if not is_wanted() then
      return
    end
    if fields then
      fields.chat, fields.request, fields.tools = chat.id, request, chat.tool_registry:offered()
      fields.system = prompts
      -- Maybe long after this effect, when nobody else ends the request. The fields are the adapter's.
      local ok, err = pcall(core.lib.start_request, fields)
      if ok then
        return
      end
      message = "the request does not fit: " .. calls.readable(err)
    end
    core.lib.fail_request({ chat = chat.id, request = request, message = message })
  end)
end

---The first of an answer has come.
---@param chat lathe.Chat
local function note_stream(chat)
  if chat.streamed ~= chat.request then
    chat.streamed = chat.request
    events.note("streaming", chat, { id = chat.request })
  end
end

---The performers of the engine's effects.
---@param chats table<integer, lathe.Chat> by id
---@return lathe.Performers
function M.performers(chats)
  local P = {}

  function P.take_input(id)
    local chat = chats[id]
    if not chat or chat.is_closing then
      return nil
    end
    tools.refresh()
    chat.is_listed = true
    local text, typed = prompt.take(chat)
    saving.note(chat)
    chat.taken = text
    return text, typed
  end

  function P.hold_input(id, waiting)
    local chat = chats[id]
    if chat then
      chat.render:hold(waiting and (next(chat.calls) and "tools" or "answer") or nil)
    end
  end

  function P.start_turn(id)
    local chat = chats[id]
    if chat then
      chat.render:settle() -- the end of the turn before comes first
      chat.is_running = true
      chat.started_ms = vim.uv.now()
      chat.turn = chat.turn + 1
      chat.stderr = {}
      events.emit("ChatSubmitted", chat, { id = chat.turn })
    end
  end

  function P.send_request(id, request)
    local chat = chats[id]
    if not chat then
      return
    end
    open_llm(chat)
    chat.render:begin_answer()
    chat.render:wait(true)
    events.emit("RequestStarted", chat, { id = request })
    if not chat.adapter then
      chat:find_adapter() -- `setup` may have been called since
    end
    if not chat.adapter then
      core.lib.fail_request({ chat = id, request = request, message = chat.adapter_message })
      return
    end
    saving.note(chat) -- a tool may have added others
    chat.request = request
    chat.is_answering = true
    -- After a stop nothing is sent any more.
    local function is_wanted()
      return chats[id] == chat and not chat.is_closing and chat.request == request
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
          core.lib.fail_request({
            chat = id,
            request = request,
            message = "the permission rules could not be loaded: " .. fault,
          })
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

  function P.finish_request(id, request, failed, input_tokens, output_tokens)
    local chat = chats[id]
    if chat then
      chat.render:wait(false)
      local status = failed and "error" or "success"
      if not failed then
        notice.settle(chat)
      end
      if input_tokens then
        chat.usage = { input = input_tokens, output = output_tokens }
        chat.render:show_usage(chat.usage)
      end
      events.emit("RequestFinished", chat, { id = request, status = status })
    end
  end

  function P.show_text(id, text)
    local chat = chats[id]
    if chat then
      note_stream(chat)
      open_llm(chat)
      notice.settle(chat)
      chat.render:add_text(text, "text")
    end
  end

  function P.show_reasoning(id, text)
    local chat = chats[id]
    if chat then
      note_stream(chat)
    end
    if chat and chat.display.chat.show_reasoning then
      open_llm(chat)
      notice.settle(chat)
      chat.render:add_text(text, "reasoning")
    end
  end

  function P.show_provider_call(id, name, label, output, is_error)
    local chat = chats[id]
    if not chat then
      return
    end
    open_llm(chat)
    local state = is_error and "error" or "success"
    chat.render:add_call({
      kind = "call",
      state = state,
      head = block.one_line(label ~= "" and name .. "  " .. label or name),
      is_live = false,
      body = output ~= "" and { output } or false,
      question = false,
      fact = "by the provider",
      look = nil,
    })
    events.emit("ToolFinished", chat, { tool = name, source = "provider", status = state })
  end

  function P.add_message(id, role, content, wire_id, is_error, visible, reasoning, typed)
    local chat = chats[id]
    if not chat then
      return
    end
    local message = append_message(chat, role, content, wire_id, is_error, visible, reasoning, typed)
    if role == "llm" then
      -- The model's own text has been shown as it came.
      if chat.given[1] == content and visible then
        table.remove(chat.given, 1)
        chat:add_buf_message(message)
      end
    elseif role == "user" then
      if chat.taken == content then
        chat.taken, was_typed[message] = nil, true
      elseif visible then
        chat.render:add_user(chat:heading("user"), content)
      end
    end
  end

  function P.take_back_message(id)
    local chat = chats[id]
    if chat then
      chat.messages[#chat.messages] = nil
      chat.last_llm = nil
      chat.render:cut_answer()
    end
  end

  function P.cut_history(id, kept)
    local chat = chats[id]
    if chat then
      local message = chat.messages[kept + 1]
      for i = #chat.messages, kept + 1, -1 do
        chat.messages[i] = nil
      end
      chat.last_llm = nil
      chat.render:cut_to_last_message()
      -- What did not come from there has no mentions.
      local typed = message._meta.typed or was_typed[message] and message.content
      chat.render:add_input(typed or context.plain(message.content))
    end
  end

  function P.add_call(id, call, wire_id, name, arguments, runs)
    local chat = chats[id]
    if not chat then
      return
    end
    calls.add(chat, call, append_call(chat, wire_id, name, arguments), runs)
  end

  function P.restore_message(id, role, content, wire_id, is_error, visible, reasoning, typed)
    local chat = chats[id]
    if not chat then
      return
    end
    append_message(chat, role, content, wire_id, is_error, visible, reasoning, typed)
    if role == "user" and visible then
      chat.render:add_user(chat:heading("user"), typed or content)
    elseif role == "llm" then
      open_llm(chat)
      chat.render:begin_answer()
      if reasoning and chat.display.chat.show_reasoning then
        chat.render:add_text(reasoning, "reasoning")
        chat.render:finish_reasoning()
      end
      if content ~= "" then
        chat.render:add_text(content, "text")
      end
    end
  end

  function P.restore_call(id, wire_id, name, arguments, is_error, state, head, fact, body)
    local chat = chats[id]
    if not chat then
      return
    end
    local source = append_call(chat, wire_id, name, arguments)
    open_llm(chat)
    if head == "" then
      head = name .. (arguments ~= "{}" and "  " .. arguments or "")
    end
    chat.render:add_call({
      kind = "call",
      state = final[state] and state or is_error and "error" or "success",
      head = block.one_line(head),
      is_live = false,
      body = body and body ~= "" and { body } or false,
      question = false,
      source = source,
      fact = fact and block.one_line(fact) or nil,
      bytes = body and #body or 0,
    })
  end

  P.reply = core.deliver

  function P.start_batch(id, n_calls)
    local chat = chats[id]
    if chat then
      chat.is_answering = false
      events.emit("ToolsStarted", chat, { count = n_calls })
    end
  end

  function P.finish_batch(id, failed)
    local chat = chats[id]
    if chat then
      events.emit("ToolsFinished", chat, { status = failed and "error" or "success" })
    end
  end

  function P.prepare_call(id, call, args, copying)
    local chat = chats[id]
    call = chat and chat.calls[call]
    if not call then
      return false, "The chat is closed", false, false
    end
    local prepared, a, b, c, d = calls.prepare(chat, call, args, copying)
    show_call(chat, call, "waiting")
    return prepared, a, b, c, d
  end

  function P.find_fact(id, call, fact)
    local chat = chats[id]
    call = chat and chat.calls[call]
    return call and gate.find(call, fact)
  end

  function P.ask_judge(id, call)
    local chat = chats[id]
    call = chat and chat.calls[call]
    if call then
      judge.ask(chat, call)
    end
  end

  function P.end_judge(id, call, status, reason)
    local chat = chats[id]
    call = chat and chat.calls[call]
    if call then
      log.debug(('tool "%s", call %d: judge: %s: %s'):format(call.name, call.id, status, reason))
      judge.finish(chat, call, status)
    end
  end

  function P.load_permissions(id, call)
    local chat = chats[id]
    if chat then
      permissions.load(chat, function(message)
        if message then
          log.error("the permission rules could not be loaded: " .. message)
          core.lib.fail_permissions({ chat = id, call = call })
        end
      end)
    end
  end

  function P.find_wants(id, call)
    local chat = chats[id]
    call = chat and chat.calls[call]
    local definition = call and chat.tool_registry:resolve(call.name)
    return definition and gate.wants(call, definition) or nil
  end

  function P.ask_approval(id, call, question)
    local chat = chats[id]
    call = chat and chat.calls[call]
    if not call or chat.is_closing then
      return "the chat is closed"
    end
    return approval.ask(chat, call, question)
  end

  function P.close_question(id, call)
    local chat = chats[id]
    call = chat and chat.calls[call]
    if call then
      approval.close(chat, call)
    end
  end

  function P.run_cmd(id, call, cmd)
    local chat = chats[id]
    call = chat and chat.calls[call]
    if not call then
      return false
    end
    if not call.started_ns then
      events.emit_call("ToolStarted", chat, call)
    end
    local succeeded = calls.run_cmd(chat, call, cmd)
    local call_block = call.block
    if succeeded == nil then
      call_block.last_line = call.command and function()
        return core.lib.last_line(call.id)
      end or nil
      if call_block.state ~= "running" then
        call_block.state, call_block.running_since = "running", vim.uv.now()
        chat.render:change_call(call_block)
      end
    end
    return succeeded
  end

  function P.store_text(id, call, _, succeeded, text)
    local chat = chats[id]
    call = chat and chat.calls[call]
    if call then
      calls.store_text(chat, call, succeeded, text)
    end
  end

  function P.kill_jobs(id, call)
    local chat = chats[id]
    call = chat and chat.calls[call]
    if call then
      jobs.kill_all(call)
    end
  end

  function P.run_output(id, call, kind, cmd, text) -- luacheck: no unused args
    local chat = chats[id]
    call = chat and chat.calls[call]
    if not call then
      return false
    end
    return calls.run_output(chat, call, kind, text)
  end

  function P.run_exit(id, call, shared)
    local chat = chats[id]
    call = chat and chat.calls[call]
    if call then
      calls.run_exit(chat, call, shared)
    end
  end

  function P.finish_call(id, call, status, content, duration_ms)
    local chat = chats[id]
    call = chat and chat.calls[call]
    if not call then
      return
    end
    approval.close(chat, call)
    calls.finish(chat, call, status)
    show_end(chat, call, status, content, duration_ms)
    events.emit_call("ToolFinished", chat, call, status, duration_ms)
    if chat.on_call_finished then
      chat.on_call_finished(call, status)
    end
    if chat.is_saved then
      return look_of(call.block)
    end
  end

  function P.notify(id, kind, text, attempt, of, wait_ms)
    local chat = chats[id]
    -- Of a chat whose buffer was just deleted nobody wants to hear.
    if chat and chat.render:is_alive() then
      tell(chat, kind, text, attempt, of, wait_ms)
    end
  end

  function P.tell(text)
    notify.error(text)
  end

  function P.finish_turn(id, how)
    local chat = chats[id]
    if not chat then
      return
    end
    chat.is_running = false
    chat.request = nil
    chat.render:wait(false)
    chat.render:hold(nil)
    if how == "stopped" and chat.is_answering then
      notice.show(chat, "stopped", nil, "stopped") -- else what is there looks like a whole answer
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

  function P.clear_chat(id)
    local chat = chats[id]
    if chat then
      chat:was_cleared()
    end
  end

  function P.close_chat(id)
    local chat = chats[id]
    if not chat then
      return
    end
    chat.render:settle()
    chats[id] = nil
    chat:close() -- does nothing when it was this that closed it
    events.emit("ChatClosed", chat)
    if chat.on_turn_finished then
      chat.on_turn_finished("closed")
    end
  end

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
