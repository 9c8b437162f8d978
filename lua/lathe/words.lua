-- What the user reads of what the engine tells: every sentence that is made of its data. The engine's own texts are for
-- the model, and nothing looks into them.
local M = {}

-- Why a call was asked about ------------------------------------------------------------------------------------------

---@param char string
---@return string
local function escape(char)
  local escapes = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }
  return escapes[char] or ("\\u{%x}"):format(char:byte())
end

---@param text string
---@return string
local function quoted(text)
  return '"' .. text:gsub('[\\"]', "\\%0"):gsub("%c", escape) .. '"'
end

---@param rule lathe.RuleText
---@return string
local function named_rule(rule)
  return ("rule %s %s (%s)"):format(rule.key, quoted(rule.pattern), rule.source)
end

local LOG = "see `:Lathe log`"

---@type table<string, string>
local causes = {
  no_rules = "No permission rule could be looked up for this call.",
  unknown = "No permission rule could be looked up for this call.",
  doom_loop = "The model makes this very call for the third time in a row.",
  protected = "This tool is protected: it asks in auto mode, too.",
  auto_mode = "In auto mode, each command of this tool that is not known to be safe asks.",
}

---@type table<string, string>
local doubts = {
  is_safe_failed = "is_safe failed, " .. LOG,
  judge_context_failed = "judge_context failed, " .. LOG,
  judged = 'judge: "%s"',
  judge_failed = "judge failed: %s",
}

-- What of a command cannot be told before it runs.
local unknowns = {
  program = "which program it is",
  inner = "what %s runs",
  input = "%s reads what it is to do from elsewhere, or in a language that is not looked into",
  text = "the text that %s runs",
  word = "%s may make it run a command",
  variable = "%s decides what runs",
  any_variable = "which variable %s sets",
  evaluated = "a shell may evaluate %s",
  wildcard = "a wildcard finds a name that is an option",
}

---Why the permission rules ask.
---@param reason lathe.RuleReason
---@return string
function M.rule_reason(reason)
  if not reason.rule then
    local text = "what it would run cannot be told before it runs"
    local unknown = unknowns[reason.word]
    return unknown and text .. ": " .. unknown:format(quoted(reason.about or "")) or text
  end
  local rule = named_rule(reason.rule)
  if reason.basis == "may_match" then
    return "part of it is not known before it runs and may be meant by " .. rule
  elseif reason.basis == "word" then
    return ("%s appears in an argument, see %s"):format(quoted(reason.word), rule)
  end
  return "asked by " .. rule
end

---What exactly it was.
---@param cause lathe.Cause
---@return string? text nil: the tool's own words say it
function M.cause_detail(cause)
  if cause.kind == "no_rules" then
    return "the permission rules could not be loaded, " .. LOG
  elseif cause.kind == "unknown" then
    return "what it wants could not be found, " .. LOG
  elseif cause.kind == "own_approval_failed" then
    return "what decides whether to ask failed, " .. LOG
  elseif cause.by_rule then
    return M.rule_reason(cause.by_rule)
  end
  local doubt = cause.doubt and doubts[cause.doubt]
  return doubt and doubt:format(cause.reason)
end

---What made the gate ask, where the tool's own words do not say it.
---@param cause lathe.Cause
---@return string[] lines
function M.cause(cause)
  local lines = { causes[cause.kind] }
  lines[#lines + 1] = M.cause_detail(cause)
  return lines
end

-- What came of a call -------------------------------------------------------------------------------------------------

-- Statuses of which more is to be said than the line says.
local has_text = { success = true, error = true, timeout = true, denied = true }

---What the right edge says of a call that a rule forbids.
---@param denial lathe.Denial
---@return string
function M.denial(denial)
  return "denied by " .. (denial.rule and named_rule(denial.rule) or "rule " .. denial.key)
end

---What stands below a call that is over, besides what its tool has shown.
---@param outcome lathe.Outcome
---@param why string? what the cmd gave that failed
---@return string? text nil: nothing
function M.outcome(outcome, why)
  if outcome.denial then
    return nil -- the line says it all; `gV` shows what the model has read
  elseif not has_text[outcome.status] then
    -- That it was ended is told by the line; what it had printed is not.
    local printed = outcome.printed and outcome.printed:gsub("%s+$", "")
    return printed ~= "" and printed or nil
  end
  local default = outcome.default_text
  if outcome.is_unexplained and why then
    -- The model is told the default; the user wants to know why.
    default = default .. ": " .. why
  end
  local parts = {}
  for _, part in ipairs({ default or "", outcome.message or "", outcome.report or "", outcome.media_notes or "" }) do
    parts[#parts + 1] = part ~= "" and part or nil
  end
  return parts[1] and table.concat(parts, "\n\n") or nil
end

---How a call looks that an end of the editor has cut short.
---@type table<string, { state: string, fact: string }>
local interrupted = {
  not_run = { state = "cancelled", fact = "not run" },
  unknown = { state = "stopped", fact = "state unknown" },
}

-- What a call that is over can look like.
local final = {
  success = true,
  error = true,
  invalid = true,
  rejected = true,
  denied = true,
  cancelled = true,
  stopped = true,
  skipped = true,
  timeout = true,
}

---How a call of a saved chat looks.
---@param call lathe.RestoredCall
---@return string state
---@return string? fact
function M.restored(call)
  local cut_short = interrupted[call.state]
  if cut_short then
    return cut_short.state, cut_short.fact
  end
  return final[call.state] and call.state or call.is_error and "error" or "success", call.fact
end

-- Notices -------------------------------------------------------------------------------------------------------------

---A sentence with what the provider says.
---@param sentence string without its full stop
---@param why string? may be empty
---@return string
function M.with_reason(sentence, why)
  return sentence .. (why and why ~= "" and " (" .. why .. ")" or "") .. "."
end

---Whose trouble it is, before what it says.
---@param adapter lathe.Adapter?
---@param failure lathe.Failure
---@return string
function M.failure(adapter, failure)
  local name = adapter and (adapter.formatted_name or adapter.name)
  local status = failure.status and ("%d: "):format(failure.status) or ""
  if not name or failure.names_provider then
    return status .. failure.message
  end
  -- A status reads as part of the name: `OpenAI 400: …`.
  return name .. (failure.status and " " or ": ") .. status .. failure.message
end

-- So many tools are named.
local MAX_NAMES = 5

-- So much of a tool's name is shown, in characters.
local MAX_NAME = 100

---@param tools string[] one per call
---@return string calls
---@return string names
local function named(tools)
  local names, seen, more = {}, {}, 0
  for _, name in ipairs(tools) do
    if not seen[name] then
      seen[name] = true
      local short = vim.fn.strcharpart(name, 0, MAX_NAME)
      if #names < MAX_NAMES then
        names[#names + 1] = short == name and name or short .. "…"
      else
        more = more + 1
      end
    end
  end
  local calls = ("%d call%s"):format(#tools, #tools == 1 and "" or "s")
  return calls, table.concat(names, ", ") .. (more > 0 and (" and %d more"):format(more) or "")
end

---What is not as it was in a chat that comes back.
---@param found lathe.Interruption
---@return string
function M.interruption(found)
  local facts = { "The chat was interrupted." }
  if found.unknown[1] then
    facts[#facts + 1] = ("%s had started, and what was done is not known: %s."):format(named(found.unknown))
  end
  if found.not_run[1] then
    local calls, names = named(found.not_run)
    facts[#facts + 1] = ("%s %s not run: %s."):format(calls, #found.not_run == 1 and "was" or "were", names)
  end
  if found.incomplete then
    facts[#facts + 1] = "The last answer is incomplete."
  end
  if found.skipped > 0 then
    local lines = found.skipped == 1 and "line" or "lines"
    facts[#facts + 1] = ("%d %s of its file could not be read."):format(found.skipped, lines)
  end
  return table.concat(facts, " ")
end

---@type table<string, string>
local remedies = {
  make_room = "Make room there",
  make_writable = "Make that folder writable",
  begin_new = "Begin a new chat",
  look = "Look at that folder",
}

---What has changed about the saving of a chat.
---@param saving lathe.Saving
---@return string
function M.saving(saving)
  if saving.kind == "no_thread" then
    return ("This chat is not saved: no thread could be started: %s."):format(saving.reason)
  elseif saving.kind == "works" then
    local lost = saving.lost > 0 and (" %d entries in between are lost."):format(saving.lost) or ""
    return ("This chat is saved again, in %s.%s"):format(saving.path, lost)
  elseif saving.kind == "too_long" then
    local size = ("A message of %d MiB is too long for the file of this chat: its beginning is saved, "):format(
      math.ceil(saving.bytes / 2 ^ 20)
    )
    return size
      .. (saving.path and "the whole of it in " .. saving.path or "the rest is lost: " .. saving.reason)
      .. "."
  end
  return (
    "This chat is not saved: %s: %s. %s; the next message tries again. "
    .. "(To save no chats: interactions.chat.save = false)"
  ):format(saving.path, saving.reason, remedies[saving.remedy])
end

---@type table<string, fun(notice: lathe.Notice): string>
local in_chat = {
  length_stop = function()
    return "The answer ends here: the limit on tokens was reached. Raise it in the adapter, or ask to go on."
  end,
  content_filter = function(notice)
    return M.with_reason("The answer ends here: the provider's content filter stopped it", notice.message)
  end,
  ended_for = function(notice)
    return M.with_reason("The answer ends here, for a reason of the provider's", notice.message)
  end,
  call_as_text = function()
    return "The model wrote a tool call as text. Nothing was run."
  end,
  repeated_call = function(notice)
    return ("The model repeats a call of %s that cannot run. Nothing was sent."):format(notice.tool)
  end,
  restored = function(notice)
    return M.interruption(notice.interruption)
  end,
  saving = function(notice)
    return M.saving(notice.saving)
  end,
}

---What a line in the chat says.
---@param notice lathe.Notice
---@return string? text nil: it has a place of its own
function M.in_chat(notice)
  local words = in_chat[notice.kind]
  return words and words(notice)
end

---@type table<string, string>
local aside = {
  nothing_to_send = "there is nothing to send",
  nothing_to_skip = "no call is running",
  nothing_to_edit = "there is no message to edit",
  still_running = "the chat is running: stop it first, or wait",
}

---What is told beside the chat.
---@param notice lathe.Notice
---@return string? text nil: it has a place of its own
function M.aside(notice)
  return aside[notice.kind]
end

return M
