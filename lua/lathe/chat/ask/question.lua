-- The question before a call runs: asked because the engine said so, answered only by its keys, never by typed text.
local M = {}

local block = require("lathe.chat.draw.block")
local calls = require("lathe.tools.call")
local core = require("lathe.core")
local events = require("lathe.events")
local notify = require("lathe.notify")
local question_text = require("lathe.chat.ask.question_text")

M.remembers = question_text.remembers

---@class lathe.Question : lathe.AskedQuestion
---@field call lathe.Call
---@field prompt string what the tool itself asks
---@field is_seen boolean? it was on the screen before it was written anew

---Asks about a call.
---@param chat lathe.Chat
---@param call lathe.Call
---@param question lathe.AskedQuestion becomes a `lathe.Question`
---@return string? reason to reject it at once
function M.ask(chat, call, question)
  if #vim.api.nvim_list_uis() == 0 then
    return "it needs the user's approval, and no user interface is attached"
  end
  question.call = call
  question.prompt = calls.question(call) -- once: it is the author's function
  chat.questions[#chat.questions + 1] = question
  call.block.state = "question"
  call.block.question = question_text.text(chat, question)
  chat.render:change_call(call.block)
  events.emit_call("ToolApprovalRequested", chat, call)
  if chat:is_visible() then
    return nil
  end
  if chat.opens_for_questions then
    chat:open({ enter = false })
  elseif chat.config.tools.opts.notify_on_approval then
    notify.warn(("a hidden chat asks: %s (`:Lathe toggle` shows it)"):format(question.prompt))
  end
end

---Writes the open questions again for windows that have another size now.
---@param chat lathe.Chat
function M.reflow(chat)
  for _, question in ipairs(chat.questions) do
    local call_block = question.call.block
    local text = question_text.text(chat, question)
    if call_block.question and not vim.deep_equal(text.lines, call_block.question.lines) then
      question.is_seen = question.is_seen or chat.render:is_written(call_block)
      call_block.question = text
      chat.render:change_call(call_block)
    end
  end
end

---@param chat lathe.Chat
---@param question lathe.Question
---@param status string
---@return boolean removed
local function remove(chat, question, status)
  for i, other in ipairs(chat.questions) do
    if other == question then
      table.remove(chat.questions, i)
      local call = question.call
      call.block.question = false
      call.block.state = "waiting"
      chat.render:change_call(call.block)
      events.emit_call("ToolApprovalFinished", chat, call, status)
      return true
    end
  end
  return false
end

---The question of a call is void, if it is still open.
---@param chat lathe.Chat
---@param call lathe.Call
function M.close(chat, call)
  for _, question in ipairs(chat.questions) do
    if question.call == call then
      remove(chat, question, "closed")
      return
    end
  end
end

---The question that an answer is for: the one under the cursor, else the oldest.
---@param chat lathe.Chat
---@return lathe.Question?
local function current(chat)
  local at = chat.render:block_at_cursor()
  for _, question in ipairs(chat.questions) do
    if question.call.block == at then
      return question
    end
  end
  return chat.questions[1]
end

---Has the user choose between the very command and a pattern, which they may edit.
---@param question lathe.Question
---@param give fun(reason: nil, pattern: string?)
local function choose_pattern(question, give)
  local exact, suggestion = question.remember[1].value, question.suggestion
  local choices = { ("only `%s`"):format(block.one_line(exact or "")), ("a pattern, such as `%s`"):format(suggestion) }
  vim.ui.select(choices, { prompt = "Always accept" }, function(_, index)
    if index == 1 then
      give()
    elseif index == 2 then
      vim.ui.input({ prompt = "Pattern (* is anything): ", default = suggestion }, function(pattern)
        if pattern and pattern:find("%S") then -- <Esc> leaves the question open
          give(nil, vim.trim(pattern))
        end
      end)
    end
  end)
end

---Answers a question.
---@param chat lathe.Chat
---@param answer "always"|"accept"|"reject"|"cancel"
function M.answer(chat, answer)
  local question = current(chat)
  if not question then
    return notify.info("there is no question to answer")
  end
  -- What was pressed for the question before must not answer one that nobody has seen.
  if not question.is_seen and not chat.render:is_written(question.call.block) then
    return notify.info("the question has just changed")
  end
  if answer == "always" and not question.remember then
    return notify.info("this question can only be answered for this call")
  end
  local call = question.call
  local function give(reason, pattern)
    -- While the reason was typed the question may have become void.
    if remove(chat, question, answer) then
      call.reason = reason
      core.lib.answer({ chat = chat.id, call = call.id, answer = answer, reason = reason, pattern = pattern })
    end
  end
  if answer == "always" and question.suggestion then
    return choose_pattern(question, give)
  elseif answer ~= "reject" then
    return give()
  end
  vim.ui.input({ prompt = "Reason for the model (may be empty): " }, function(reason)
    if reason then -- <Esc> leaves the question open
      give(reason:find("%S") and reason or nil)
    end
  end)
end

return M
