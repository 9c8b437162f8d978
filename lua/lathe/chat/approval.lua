-- The question before a call runs: asked because the engine said so, answered only by its keys, never by typed text.
local M = {}

local block = require("lathe.chat.block")
local calls = require("lathe.tools.call")
local core = require("lathe.core")
local events = require("lathe.events")

-- Lines of one argument's value that the question shows.
local MAX_ARGUMENT_LINES = 10

---@class lathe.Question
---@field call lathe.Call
---@field can_remember boolean

---@param args table
---@return string[]
local function argument_lines(args)
  local names, lines = {}, {}
  for name in pairs(args) do
    names[#names + 1] = name
  end
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for _, name in ipairs(names) do
    local value = args[name]
    local text = type(value) == "string" and value or vim.inspect(value)
    local split = block.split(text)
    for i = 1, math.min(#split, MAX_ARGUMENT_LINES) do
      lines[#lines + 1] = i == 1 and ("%s: %s"):format(name, split[1]) or "  " .. split[i]
    end
    if #split > MAX_ARGUMENT_LINES then
      lines[#lines + 1] = ("  … %d more lines"):format(#split - MAX_ARGUMENT_LINES)
    end
  end
  return lines
end

---@param chat lathe.Chat
---@param action string
---@return string key that answers so
local function key(chat, action)
  return require("lathe.chat.keymaps").key(chat.config, action) or ":Lathe " .. action
end

---@param chat lathe.Chat
---@param question lathe.Question
---@param cause string
---@param rest integer
---@return string[]
local function lines_of(chat, question, cause, rest)
  local call = question.call
  local lines = {}
  if cause == "doom_loop" then
    lines[1] = "The model makes this very call for the third time in a row."
  end
  vim.list_extend(lines, block.split(calls.question(call)))
  vim.list_extend(lines, argument_lines(call.args))
  lines[#lines + 1] = ""
  if question.can_remember then
    local what = ("%s  Always accept %s in this chat"):format(key(chat, "always_accept"), call.name)
    lines[#lines + 1] = what
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
---@param cause "doom_loop"|"own_approval"
---@param can_remember boolean
---@param rest integer how many calls *Cancel* would end besides this one
---@return string? reason to reject it at once
function M.ask(chat, call, cause, can_remember, rest)
  if #vim.api.nvim_list_uis() == 0 then
    return "it needs the user's approval, and no user interface is attached"
  end
  local question = { call = call, can_remember = can_remember }
  chat.questions[#chat.questions + 1] = question
  call.block.state = "question"
  call.block.question = lines_of(chat, question, cause, rest)
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

---Answers a question.
---@param chat lathe.Chat
---@param answer "always"|"accept"|"reject"|"cancel"
function M.answer(chat, answer)
  local question = current(chat)
  if not question then
    return require("lathe.notify").info("there is no question to answer")
  end
  if answer == "always" and not question.can_remember then
    return require("lathe.notify").info("this question can only be answered for this call")
  end
  local call = question.call
  local function give(reason)
    -- While the reason was typed the question may have become void.
    if remove(chat, question, answer) then
      call.reason = reason
      core.lib.answer({ chat = chat.id, call = call.id, answer = answer, reason = reason })
    end
  end
  if answer ~= "reject" then
    return give()
  end
  vim.ui.input({ prompt = "Reason for the model (may be empty): " }, function(reason)
    if reason then -- <Esc> leaves the question open
      give(reason:find("%S") and reason or nil)
    end
  end)
end

return M
