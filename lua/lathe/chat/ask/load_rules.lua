-- The permission rules of a chat: when they are loaded, what is told about them, and `:Lathe why`. What they mean is decided
-- in the library.
local M = {}

local config = require("lathe.config")
local core = require("lathe.core")
local notify = require("lathe.notify")
local permission = require("lathe.permission")

-- What was told already: files are read before each request, their faults are told once.
local told = {} ---@type table<string, true>

---@return string
local function config_home()
  local given = vim.env.XDG_CONFIG_HOME
  return given and given ~= "" and given or vim.fs.joinpath(vim.uv.os_homedir(), ".config")
end

---Where the rules of a folder and an agent come from.
---@param cwd string
---@param agent string
---@return table fields for the library
---@return string[] problems of `setup`
local function sources(cwd, agent)
  local rules, problems = permission.rules(config.get())
  local fields = {
    session = cwd,
    home = vim.uv.os_homedir(),
    config_home = config_home(),
    readable = { vim.fs.joinpath(vim.fn.stdpath("state"), "lathe", "output") },
    rules = rules,
    environment = vim.env.LATHE_PERMISSION,
    agent = agent,
  }
  return fields, problems
end

---@param problems string[]
local function tell(problems)
  local new = {}
  for _, problem in ipairs(problems) do
    if not told[problem] then
      told[problem] = true
      new[#new + 1] = problem
    end
  end
  if new[1] then
    notify.warn("permission: " .. table.concat(new, "\n"))
  end
end

---The key that rules know a tool by.
---@param tool lathe.Tool?
---@param name string
---@return string
function M.key(tool, name)
  local declared = tool and type(tool.permission) == "table" and tool.permission.key
  return type(declared) == "string" and declared or name
end

---Loads the rules of a chat; the library has them when `callback` is called.
---@param chat lathe.Chat
---@param callback fun(message: string?) nil: they are loaded
function M.load(chat, callback)
  local fields = sources(chat.cwd, chat.agent)
  fields.chat = chat.id
  fields.tools = {}
  for i, one in ipairs(chat.tool_registry:reachable()) do
    fields.tools[i] = { name = one.name, key = M.key(one.found.tool, one.name) }
  end
  core.ask("load_permissions", fields, function(answer, message)
    if answer then
      tell(answer.problems) -- those of `setup` were told by it
      chat.tool_registry:hide(answer.hidden)
    end
    callback(message)
  end)
end

-- Why ---------------------------------------------------------------------------------------------------------------

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
---@return string
local function own_setting(name)
  local tools = require("lathe.tools")
  local tool = tools.is_known(name) and tools.resolve(name) or nil
  if not tool then
    return ('no rule decides, and there is no tool "%s": step 8, the setting of whatever tool has this key'):format(
      name
    )
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
function M.why(name, value, chat, callback)
  local lib, message = core.need()
  if not lib then
    return callback(nil, message --[[@as string]])
  end
  local tools = require("lathe.tools")
  local tool = tools.is_known(name) and tools.resolve(name) or nil
  local fields, problems = sources(chat and chat.cwd or vim.fn.getcwd(), chat and chat.agent or "build")
  fields.key = M.key(tool, name)
  fields.values = value and { value } or {}
  core.ask("why", fields, function(answer, fault)
    if not answer then
      return callback(nil, fault --[[@as string]])
    end
    local lines, actions = {}, {}
    for i, part in ipairs(answer) do
      actions[i] = part.action or "none"
      lines[i] = ("%-5s %s  %s"):format(part.action or "none", part.key, (part.value:gsub("\n", " ⏎ ")))
      local reason = part.rule or (part.action == "ask" and "what it would run cannot be told" or "no rule")
      lines[i] = ("%s\n      %s"):format(lines[i], reason)
    end
    local outcome = strictest(actions)
    if not lines[1] then
      lines[1] = "nothing is run"
    end
    lines[#lines + 1] = "→ " .. (outcomes[outcome] or own_setting(name))
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
    require("lathe.chat.draw.list_window").show(vim.split(table.concat(lines, "\n"), "\n"), "why")
  else
    notify.error(outcome)
  end
end

return M
