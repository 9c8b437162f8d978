-- What the gate wants to know about a call and only Lua can tell: its tool's settings and what its functions answer.
-- What follows from that is decided in the library.
local M = {}

local config = require("lathe.config")
local core = require("lathe.core")
local forms = require("lathe.tools.function_forms")
local log = require("lathe.log")
local protected = require("lathe.tools.foreign_code").protected
local runners = require("lathe.tools.runners")
local shell_command = require("lathe.tools.shell_command")

---The gate's last step as far as it is known without calling the author's functions.
---@param tool lathe.Tool
---@return "run"|"ask"|"function"
local function own_approval(tool)
  local setting = tool.opts.require_approval_before
  if setting == true then
    return "ask"
  elseif setting == false then
    return "run"
  elseif type(setting) == "function" or (tool.handlers and tool.handlers.prompt_condition) then
    return "function"
  end
  return setting == nil and "run" or "ask"
end

---@return boolean
local function has_judge()
  return config.get().interactions.background.gates.judge.enabled
end

---Adds what is settled before anything is asked.
---@param preparation lathe.Preparation
---@param definition lathe.Tool what was configured: a tool cannot take the user's `protect` from its own copy
---@param tool lathe.Tool the call's copy
---@return lathe.Preparation
function M.add_settings(preparation, definition, tool)
  local opts, gates = definition.opts, tool.gates
  preparation.approval = own_approval(tool)
  preparation.protect = opts.protect and true
  preparation.by_command = opts.require_cmd_approval and true
  preparation.declares = definition.permission ~= nil
  if type(gates) == "table" then
    preparation.is_safe = gates.is_safe and true
    preparation.judge = gates.judge_context and opts.judge == true and has_judge()
  end
  return preparation
end

-- The command that an approval is for --------------------------------------------------------------------------------

---JSON that is the same for equal values. Throws for what is no JSON.
---@param value any
---@param depth integer
---@return string
local function canonical(value, depth)
  if type(value) ~= "table" or next(value) == nil then
    return vim.json.encode(value)
  end
  assert(depth < 100, "nested too deeply")
  local parts = {}
  if vim.islist(value) then
    for i, item in ipairs(value) do
      parts[i] = canonical(item, depth + 1)
    end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  local names = {}
  for name in pairs(value) do
    assert(type(name) == "string", "a key that is no string")
    names[#names + 1] = name
  end
  table.sort(names)
  for i, name in ipairs(names) do
    parts[i] = vim.json.encode(name) .. ":" .. canonical(value[name], depth + 1)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

---The text of a command, with the values of its placeholders as it will run.
---@param call lathe.Call
---@param entry any
---@return string?
local function command_text(call, entry)
  local text = shell_command.read(entry)
  local values = text and shell_command.values(call.env, call.args)
  return values and core.lib.command_text({ text = text, env = values }) or nil
end

---The text of a call's commands, with the values of its placeholders; nil when a function is among them.
---@param call lathe.Call
---@return string? text
---@return boolean failed there are only commands, but not all can be known
local function commands_of(call)
  local cmds = call.tool.cmds
  local texts = {}
  for i, entry in ipairs(cmds) do
    if runners.of(entry) ~= runners.COMMAND then
      return nil, false
    end
    local text = command_text(call, entry)
    if not text then
      return nil, true
    end
    texts[i] = text
  end
  return texts[1] and table.concat(texts, "\n"), false
end

---What an approval of this very call is remembered under.
---@param call lathe.Call
---@return string? value nil: it cannot be known
local function cmd_string(call)
  local output = call.tool.output
  if type(output) == "table" and output.cmd_string then
    local ok, text = protected(call, "cmd_string", forms.call, output.cmd_string, call.tool, call.meta)
    return ok and type(text) == "string" and text:find("%S") and text or nil
  end
  local text, failed = commands_of(call)
  if text or failed then
    return text
  end
  local ok, json = pcall(canonical, call.args, 0)
  return ok and json or nil
end

-- Facts --------------------------------------------------------------------------------------------------------------

-- What runs protected below looks its function up there, too: the tool may have put anything in its place.

---@param call lathe.Call
---@return any
local function own_answer(call)
  local tool = call.tool
  local setting = tool.opts.require_approval_before
  if type(setting) == "function" then
    return setting(tool, call.view)
  end
  -- Older forms got the configuration of all tools besides.
  return forms.call(tool.handlers.prompt_condition, tool, call.meta, call.view.tools_config)
end

---@param call lathe.Call
---@param name string
---@return any
local function gate_answer(call, name)
  return forms.call(call.tool.gates[name], call.tool, call.meta)
end

---@param call lathe.Call
---@return boolean? ask nil: it threw
local function asks(call)
  local ok, answer = protected(call, "require_approval_before", own_answer, call)
  if not ok then
    return nil
  end
  return answer ~= nil and answer ~= false
end

---@param call lathe.Call
---@param name "is_safe"|"judge_context"
---@param wanted "boolean"|"string"
---@return boolean found false: it threw, or answered with something else
---@return any answer
local function ask_gate(call, name, wanted)
  local ok, answer = protected(call, name, gate_answer, call, name)
  if ok and answer ~= nil and type(answer) ~= wanted then
    log.warn(('tool "%s": %s returned a %s where a %s is wanted'):format(call.name, name, type(answer), wanted))
    return false
  end
  return ok, answer
end

---@param call lathe.Call
---@param field "values"|"paths"
---@return string[]|nil list nil: it cannot be known
local function declared(call, definition, field)
  local fn = definition[field]
  if fn == nil then
    return {}
  end
  local ok, list = protected(call, "permission." .. field, fn, call.args)
  if ok and type(list) == "string" then
    list = { list }
  end
  if not ok or type(list) ~= "table" or not vim.islist(list) then
    if ok then
      log.warn(('tool "%s": permission.%s returned %s, not a list of strings'):format(call.name, field, type(list)))
    end
    return nil
  end
  return list
end

---What a call wants, as permission rules see it: a key with values, paths, the texts of its commands.
---@param call lathe.Call
---@param definition lathe.Tool what was configured: a tool cannot change its key for one call
---@return { key: string, values: string[], paths: string[], commands: string[] }? wants nil: it cannot be known
function M.wants(call, definition)
  local permission = definition.permission or {}
  if type(permission) ~= "table" or (permission.key ~= nil and type(permission.key) ~= "string") then
    log.warn(('tool "%s": permission: expected { key = …, values = …, paths = … }'):format(call.name))
    return nil
  end
  local values, paths = declared(call, permission, "values"), declared(call, permission, "paths")
  if not values or not paths then
    return nil
  end
  local commands = {}
  for i, entry in ipairs(call.tool.cmds) do
    if runners.of(entry) == runners.COMMAND then
      local text = command_text(call, entry)
      if not text then
        return nil
      end
      commands[#commands + 1] = text
    end
  end
  return { key = permission.key or call.name, values = values, paths = paths, commands = commands }
end

---Finds a fact for the gate.
---@param call lathe.Call
---@param fact "own_approval"|"cmd_string"|"is_safe"|"judge_context"
---@return boolean|string|nil found nil: it cannot be found, which never lets a call run
function M.find(call, fact)
  if fact == "own_approval" then
    return asks(call)
  elseif fact == "cmd_string" then
    return cmd_string(call)
  elseif fact == "is_safe" then
    local found, answer = ask_gate(call, "is_safe", "boolean")
    if not found then
      return nil
    end
    return answer == true
  elseif fact == "judge_context" then
    local found, answer = ask_gate(call, "judge_context", "string")
    if not found then
      return nil
    end
    call.judge_context = answer
    return answer ~= nil and answer:find("%S") ~= nil
  end
end

return M
