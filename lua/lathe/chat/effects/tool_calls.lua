-- Performers for calls: what the author's functions do, what the gate wants to know, how a call looks while it runs and
-- when it is over.
local M = {}

local block = require("lathe.chat.draw.block")
local calls = require("lathe.tools.call")
local conversation = require("lathe.chat.effects.conversation")
local core = require("lathe.core")
local events = require("lathe.events")
local gate = require("lathe.tools.gate_facts")
local jobs = require("lathe.tools.jobs")
local judge = require("lathe.chat.ask.judge")
local log = require("lathe.log")
local permissions = require("lathe.chat.ask.load_rules")
local prepare_call = require("lathe.tools.prepare_call")
local question = require("lathe.chat.ask.question")
local run_call = require("lathe.tools.run_call")
local words = require("lathe.words")

M.chats = {}

local P = {}
M.calls = P

-- What is returned for a call that is gone, where that is not nothing.
M.gone = {
  prepare_call = { message = "The chat is closed" },
  ask_approval = "the chat is closed",
  run_cmd = false,
  run_output = { is_undefined = true },
}

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
  conversation.open_llm(chat)
  chat.render:add_call(call_block)
end

function M.chats.start_batch(chat, o)
  chat.is_answering = false
  events.emit("ToolsStarted", chat, { count = o.calls })
end

function M.chats.finish_batch(chat, o)
  events.emit("ToolsFinished", chat, { status = o.failed and "error" or "success" })
end

---A call joins the newest message of the model.
---@param chat lathe.Chat
---@param id integer
---@param o { wire_id: string, name: string, arguments: string, runs: string? }
function M.add(chat, id, o)
  calls.add(chat, id, conversation.append_call(chat, o), o.runs)
end

---@param chat lathe.Chat
---@param call lathe.Call
---@param o { arguments: table, copying: lathe.Copying }
---@return lathe.Preparation
function P.prepare_call(chat, call, o)
  local preparation = prepare_call.prepare(chat, call, o.arguments, o.copying)
  show_call(chat, call, "waiting")
  return preparation
end

-- The gate -----------------------------------------------------------------------------------------------------------

function P.find_fact(_, call, o)
  return gate.find(call, o.fact)
end

function P.find_wants(chat, call)
  local definition = chat.tool_registry:resolve(call.name)
  return definition and gate.wants(call, definition) or nil
end

function P.load_permissions(chat, call)
  permissions.load(chat, function(fault)
    if fault then
      log.error("the permission rules could not be loaded: " .. fault)
      core.lib.fail_permissions({ chat = chat.id, call = call.id })
    end
  end)
end

function P.ask_judge(chat, call)
  judge.ask(chat, call)
end

function P.end_judge(chat, call, o)
  log.debug(('tool "%s", call %d: judge: %s: %s'):format(call.name, call.id, o.status, o.reason))
  judge.finish(chat, call, o.status)
end

---@param chat lathe.Chat
---@param call lathe.Call
---@param o lathe.AskedQuestion
---@return string? reason to reject it at once
function P.ask_approval(chat, call, o)
  if chat.is_closing then
    return M.gone.ask_approval
  end
  return question.ask(chat, call, o)
end

function P.close_question(chat, call)
  question.close(chat, call)
end

-- Cmds ---------------------------------------------------------------------------------------------------------------

---@param chat lathe.Chat
---@param call lathe.Call
local function show_running(chat, call)
  local call_block = call.block
  call_block.last_line = call.command and function()
    return core.lib.last_line(call.id)
  end or nil
  if call_block.state ~= "running" then
    call_block.state, call_block.running_since = "running", vim.uv.now()
    chat.render:change_call(call_block)
  end
end

---@param chat lathe.Chat
---@param call lathe.Call
local function tell_start(chat, call)
  if not call.started_ns then
    events.emit_call("ToolStarted", chat, call)
  end
end

function P.begin_cmd(chat, call, o)
  tell_start(chat, call)
  run_call.begin_cmd(call, o.cmd)
  show_running(chat, call)
end

function P.run_cmd(chat, call, o)
  tell_start(chat, call)
  local succeeded = run_call.run_cmd(chat, call, o.cmd)
  if succeeded == nil then
    show_running(chat, call)
  end
  return succeeded
end

function P.store_text(chat, call, o)
  run_call.store_text(chat, call, o.succeeded, o.text)
end

function P.kill_jobs(_, call)
  jobs.kill_all(call)
end

function P.run_output(chat, call, o)
  return run_call.run_output(chat, call, o)
end

function P.run_exit(chat, call, o)
  run_call.run_exit(chat, call, o.shared)
end

-- The end ------------------------------------------------------------------------------------------------------------

---What the right edge says about how a call ended.
---@param call lathe.Call
---@param outcome lathe.Outcome
---@return string?
local function fact_of(call, outcome)
  local status = outcome.status
  if outcome.denial then
    return block.one_line(words.denial(outcome.denial))
  elseif status == "success" or status == "error" then
    local ms = calls.elapsed_ms(call)
    return ms and block.duration(ms)
  elseif status == "rejected" then
    return call.reason and ('rejected: "%s"'):format(block.one_line(call.reason)) or "rejected"
  elseif status == "cancelled" or status == "denied" or not call.started_ns then
    return status == "timeout" and "timed out" or status
  elseif status == "timeout" then
    return "timed out at " .. block.duration(outcome.duration_ms)
  end
  return ("%s at %s"):format(status, block.clock(calls.elapsed_ms(call)))
end

---@param chat lathe.Chat
---@param call lathe.Call
---@param outcome lathe.Outcome
local function show_end(chat, call, outcome)
  local was_prepared = call.block and true or false
  if not was_prepared then
    show_call(chat, call, outcome.status)
  end
  local call_block = call.block
  call_block.is_live, call_block.call = false, nil
  call_block.question = false
  call_block.state = outcome.status
  call_block.fact = fact_of(call, outcome)
  local why = outcome.is_unexplained and call.failure ~= nil and calls.readable(call.failure) or nil
  local text = words.outcome(outcome, why)
  if text and not was_prepared then
    call_block.state = "invalid"
    local first, rest = text:match("^([^\n]*)\n?(.*)$")
    call_block.head = block.one_line(call_block.head .. "  " .. first)
    text = rest ~= "" and rest or nil
  end
  if text then
    local body = call_block.body or {}
    body[#body + 1] = text
    call_block.body = body
  end
  chat.render:change_call(call_block)
end

---@param chat lathe.Chat
---@param call lathe.Call
---@param outcome lathe.Outcome
---@return lathe.CallLook? look to be saved
function P.finish_call(chat, call, outcome)
  local status = outcome.status
  question.close(chat, call)
  calls.finish(chat, call, status)
  show_end(chat, call, outcome)
  chat.cut_files[call.function_call.id] = outcome.files
  events.emit_call("ToolFinished", chat, call, status, outcome.duration_ms)
  if chat.on_call_finished then
    chat.on_call_finished(call, status)
  end
  if chat.is_saved then
    local call_block = call.block
    local body = call_block.body
    return {
      state = call_block.state,
      head = call_block.head,
      fact = call_block.fact or nil,
      files = outcome.files,
      body = body and table.concat(body, "\n") or nil,
    }
  end
end

return M
