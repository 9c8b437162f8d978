-- The question before a call runs: asked because the engine said so, answered only by its keys, never by typed text.
local M = {}

local approvals = require("lathe.chat.approvals")
local block = require("lathe.chat.block")
local calls = require("lathe.tools.call")
local core = require("lathe.core")
local events = require("lathe.events")

-- What the question shows at most: its answers must stay in view, and what it hides is named.
local MAX_ARGUMENT_LINES = 10
local MAX_ALL_LINES = 40
local MAX_LINE_BYTES = 1000

-- What made the gate ask, where the tool's own words do not say it.
local causes = {
  unknown = "No permission rule could be looked up for this call.",
  doom_loop = "The model makes this very call for the third time in a row.",
  protected = "This tool is protected: it asks in auto mode, too.",
  auto_mode = "In auto mode, each command of this tool that is not known to be safe asks.",
}

---@class lathe.Question
---@field call lathe.Call
---@field cause "unknown"|"doom_loop"|"protected"|"auto_mode"|"rule"|"own_approval"
---@field rest integer how many calls *Cancel* would end besides this one
---@field note string? what else the user should know
---@field remember lathe.Remember? what *Always accept* remembers; nil: it is not offered
---@field wants { key: string, value: string }[]? what a rule asks about, of all that the call wants
---@field suggestion string? a pattern that may be remembered in place of the one value

---A list of what is remembered: tool or key of a rule, and value.
---@class lathe.Remember
---@field scope "chat"|"project"
---@field [integer] { tool: string, value: string? }

---Appends a text's lines; what is too long is cut and counted.
---@param lines string[]
---@param text string
---@param prefix string? before the first line
local function append_text(lines, text, prefix)
  local split = block.split(text)
  for i = 1, math.min(#split, MAX_ARGUMENT_LINES) do
    local line = split[i]
    local hidden = #line - MAX_LINE_BYTES
    line = block.cut(line, MAX_LINE_BYTES) .. (hidden > 0 and (" (%d more bytes)"):format(hidden) or "")
    lines[#lines + 1] = not prefix and line or i == 1 and prefix .. line or "  " .. line
  end
  if #split > MAX_ARGUMENT_LINES then
    lines[#lines + 1] = ("  … %d more lines"):format(#split - MAX_ARGUMENT_LINES)
  end
end

---An argument as text. A large one in one line, which is made much faster and is cut anyway.
---@param value any
---@return string
local function readable(value)
  if type(value) == "string" then
    return value
  end
  local ok, json = pcall(vim.json.encode, value)
  return ok and #json > 4 * MAX_LINE_BYTES and json or vim.inspect(value)
end

---Appends the arguments, sorted by name.
---@param lines string[]
---@param args table
local function append_arguments(lines, args)
  local names = vim.tbl_keys(args)
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for i, name in ipairs(names) do
    if #lines >= MAX_ALL_LINES then
      lines[#lines + 1] = ("… %d more arguments"):format(#names - i + 1)
      return
    end
    append_text(lines, readable(args[name]), block.one_line(tostring(name)) .. ": ")
  end
end

---@param chat lathe.Chat
---@param action string
---@return string key that answers so
local function key(chat, action)
  return require("lathe.chat.keymaps").key(chat.config, action) or ":Lathe " .. action
end

---What *Always accept* remembers, in words.
---@param question lathe.Question
---@return string? nil: it is not offered
function M.remembers(question)
  local remember = question.remember
  if remember then
    local parts = {}
    for i, one in ipairs(remember) do
      parts[i] = approvals.value(one.value, one.tool)
    end
    local text = ("remembers %s in this %s"):format(table.concat(parts, ", "), remember.scope)
    return question.suggestion and text .. ", or a pattern" or text
  end
end

---@param chat lathe.Chat
---@param question lathe.Question
---@return string[]
local function lines_of(chat, question)
  local call, rest = question.call, question.rest
  local lines = { causes[question.cause] }
  if question.note then
    lines[#lines + 1] = block.one_line(question.note)
  end
  append_text(lines, calls.question(call))
  for _, want in ipairs(question.wants or {}) do
    append_text(lines, want.value, want.key .. ": ")
  end
  append_arguments(lines, call.args)
  lines[#lines + 1] = ""
  local remembers = M.remembers(question)
  if remembers then
    lines[#lines + 1] = ("%s  Always accept, %s"):format(key(chat, "always_accept"), remembers)
  end
  lines[#lines + 1] = key(chat, "accept") .. "  Accept"
  lines[#lines + 1] = key(chat, "reject") .. "  Reject, with a reason"
  local others = rest == 1 and " and 1 more" or rest > 1 and (" and %d more"):format(rest) or ""
  lines[#lines + 1] = key(chat, "cancel") .. "  Cancel this call" .. others
  -- Names come from the model and may hold anything, line ends too.
  return block.split(table.concat(lines, "\n"))
end

---Asks about a call.
---@param chat lathe.Chat
---@param call lathe.Call
---@param question table the rest of a `lathe.Question`
---@return string? reason to reject it at once
function M.ask(chat, call, question)
  if #vim.api.nvim_list_uis() == 0 then
    return "it needs the user's approval, and no user interface is attached"
  end
  question.call = call
  chat.questions[#chat.questions + 1] = question
  call.block.state = "question"
  call.block.question = lines_of(chat, question)
  chat.render:change_call(call.block)
  events.emit_call("ToolApprovalRequested", chat, call)
  if chat:is_visible() then
    return nil
  end
  if chat.opens_for_questions then
    chat:open({ enter = false })
  elseif chat.config.tools.opts.notify_on_approval then
    require("lathe.notify").warn(("a hidden chat asks: %s (`:Lathe toggle` shows it)"):format(calls.question(call)))
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
    return require("lathe.notify").info("there is no question to answer")
  end
  -- What was pressed for the question before must not answer one that nobody has seen.
  if not chat.render:is_written(question.call.block) then
    return require("lathe.notify").info("the question has just changed")
  end
  if answer == "always" and not question.remember then
    return require("lathe.notify").info("this question can only be answered for this call")
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
