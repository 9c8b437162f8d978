-- `:Lathe why`: what the permission rules say to a call, in words. What they mean is decided in the library.
local M = {}

local core = require("lathe.core")
local list_window = require("lathe.chat.draw.list_window")
local load_rules = require("lathe.chat.ask.load_rules")
local notify = require("lathe.notify")
local tools = require("lathe.tools")
local words = require("lathe.words")

---@param list string[]
---@return string
local function strictest(list)
  local rank = { allow = 0, none = 1, ask = 2, deny = 3 }
  local found = "allow"
  for _, action in ipairs(list) do
    found = rank[action] > rank[found] and action or found
  end
  return found
end

-- What follows from what the rules say.
local outcomes = {
  deny = "deny (step 1: a rule denies; nothing lifts that)",
  allow = "allow (step 3: rules allow all of it)",
  ask = "ask (step 7: a rule asks; an approval or auto mode may let it run)",
}

---What the tool's own setting does where no rule decides.
---@param name string
---@param chat lathe.Chat?
---@return string
local function own_setting(name, chat)
  local found = tools.definition(name, chat)
  local tool = found and found.tool
  if not tool then
    local text = 'no rule decides, and there is no tool "%s": step 8, the setting of whatever tool has this key'
    local excuse = tools.excuse()
    return text:format(name) .. (excuse ~= "" and "." .. excuse or "")
  end
  local setting = tool.opts.require_approval_before
  local decides = setting == true and "asks"
    or setting == false and "runs"
    or (type(setting) == "function" or (tool.handlers and tool.handlers.prompt_condition)) and "is a function"
    or setting == nil and "runs"
    or "asks"
  return ("no rule decides: step 8, the tool's own setting, which %s"):format(decides)
end

---Explains what the rules say to a call.
---@param name string a tool, or the key of a rule
---@param value string? what it is called with; default `*`
---@param chat lathe.Chat? whose folder and agent count
---@param callback fun(lines: string[]?, outcome: string) lines nil: outcome says what went wrong
function M.explain(name, value, chat, callback)
  local lib, message = core.need()
  if not lib then
    return callback(nil, message --[[@as string]])
  end
  local found = tools.definition(name, chat)
  local fields, problems = load_rules.sources(chat and chat.cwd or vim.fn.getcwd(), chat and chat.agent or "build")
  fields.key = load_rules.key(found and found.tool, name)
  fields.values = value and { value } or {}
  core.ask("why", fields, function(answer, fault)
    if not answer then
      return callback(nil, fault --[[@as string]])
    end
    local lines, actions = {}, {}
    for i, part in ipairs(answer) do
      actions[i] = part.action or "none"
      lines[i] = ("%-5s %s  %s"):format(part.action or "none", part.key, (part.value:gsub("\n", " ⏎ ")))
      local reason = part.reason and words.rule_reason(part.reason) or part.rule or "no rule"
      lines[i] = ("%s\n      %s"):format(lines[i], reason)
    end
    local outcome = strictest(actions)
    if not lines[1] then
      lines[1] = "nothing is run"
    end
    lines[#lines + 1] = "→ " .. (outcomes[outcome] or own_setting(name, chat))
    if answer.hidden_by then
      lines[#lines + 1] = "The tool is not offered to the model: " .. answer.hidden_by
    end
    for _, problem in ipairs(vim.list_extend(problems, answer.problems)) do
      lines[#lines + 1] = "! " .. problem
    end
    callback(lines, outcome)
  end)
end

---Prints an explanation.
---@param lines string[]?
---@param outcome string
function M.print(lines, outcome)
  if lines then
    list_window.show(vim.split(table.concat(lines, "\n"), "\n"), "why")
  else
    notify.error(outcome)
  end
end

return M
