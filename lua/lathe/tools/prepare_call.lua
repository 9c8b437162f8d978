-- A call gets its copy of the tool, `env` and `handlers.setup` run, and the library is told what it must know of it.
local M = {}

local call_of = require("lathe.tools.call")
local copy = require("lathe.tools.copy_tool")
local definitions = require("lathe.tools.definition")
local forms = require("lathe.tools.function_forms")
local gate = require("lathe.tools.gate_facts")
local protected = require("lathe.tools.foreign_code").protected
local runners = require("lathe.tools.runners")

---Gives the call its copy of the tool and its view of the tool system.
---@param chat lathe.Chat
---@param call lathe.Call
---@param definition lathe.Tool
---@param args table
---@param shared lathe.Tool? the copy that calls in a row share
local function equip(chat, call, definition, args, shared)
  local tool = shared or copy.tool(definition)
  tool.args = args
  tool.function_call = call.function_call
  local view = call_of.view(chat, tool)
  call.tool, call.args, call.view, call.meta = tool, args, view, forms.meta(view)
end

---A call that is cancelled in the queue has no copy yet: it gets one, but nothing is set up.
---@param chat lathe.Chat
---@param call lathe.Call
function M.equip_queued(chat, call)
  local definition = chat.tool_registry:resolve(call.name)
  if definition then
    local ok, args = pcall(vim.json.decode, call.function_call["function"].arguments)
    equip(chat, call, definition, ok and type(args) == "table" and args or {})
  end
end

---What `setup` has made of the tool that cannot be used.
---@param tool lathe.Tool
---@return string?
local function misfit(tool)
  for part, is_needed in pairs({ opts = true, cmds = true, output = false, handlers = false }) do
    local value = tool[part]
    if type(value) ~= "table" and (is_needed or value ~= nil) then
      return ("%s that is %s, not a table"):format(part, vim.inspect(value))
    end
  end
  return definitions.form_fault(tool)
end

---Why a call cannot run.
---@param call lathe.Call
---@param what string
---@param on_exit boolean? `setup` was reached, and there is an `on_exit` to run
---@return lathe.Preparation
local function failed(call, what, on_exit)
  return { message = ('Tool "%s": %s'):format(call.name, what), on_exit = on_exit }
end

---@param call lathe.Call
---@return lathe.Preparation? fault
local function run_env(call)
  local tool = call.tool
  if not tool.env then
    return nil
  end
  local ok, env = protected(call, "env", tool.env, tool)
  if ok and env ~= nil and type(env) ~= "table" then
    ok, env = false, "expected a table, got " .. type(env)
  end
  if not ok then
    return failed(call, "env failed: " .. env)
  end
  call.env = env
end

---@param call lathe.Call
---@return lathe.Preparation? fault
local function run_setup(call)
  local tool = call.tool
  local handlers = tool.handlers
  local ok, text = protected(call, "setup", forms.call, handlers.setup, tool, call.meta)
  if not ok then
    return failed(call, "setup failed: " .. text, type(tool.handlers) == "table" and tool.handlers.on_exit ~= nil)
  end
  local wrong = misfit(tool)
  if wrong then
    tool.handlers = { on_exit = handlers.on_exit }
    return failed(call, "setup left " .. wrong, handlers.on_exit ~= nil)
  end
end

---The time limit of a call, in whole milliseconds.
---@param chat lathe.Chat
---@param tool lathe.Tool
---@return integer? limit a number that is too large to be one, such as math.huge, is no limit
local function timeout_ms(chat, tool)
  local limit = tool.opts.timeout
  if limit == nil then
    limit = chat.config.tools.opts.timeout
  end
  return limit and limit < 2 ^ 53 and math.ceil(limit) or nil
end

---What the library must know of a call that is ready.
---@param chat lathe.Chat
---@param call lathe.Call
---@param definition lathe.Tool
---@return lathe.Preparation
local function describe(chat, call, definition)
  local tool = call.tool
  local handlers, output = tool.handlers, tool.output or {}
  if type(tool.cmds) ~= "table" then
    local on_exit = type(handlers) == "table" and handlers.on_exit ~= nil
    return failed(call, "cmds: expected a list, got " .. type(tool.cmds), on_exit)
  end
  if handlers and handlers.on_exit then
    call.on_exit = handlers.on_exit
  end
  return gate.add_settings({
    cmds = runners.list(tool.cmds),
    success = output.success and true,
    error = output.error and true,
    rejected = output.rejected and true,
    cancelled = output.cancelled and true,
    on_exit = handlers and handlers.on_exit and true,
    timeout_ms = timeout_ms(chat, tool),
  }, definition, tool)
end

---Makes the call's copy of the tool, or takes the one that calls in a row share, and makes it ready.
---@param chat lathe.Chat
---@param call lathe.Call
---@param args table
---@param copying lathe.Copying first: the calls that follow share the copy
---@return lathe.Preparation
function M.prepare(chat, call, args, copying)
  local definition, fault, source = chat.tool_registry:resolve(call.name)
  call.source = source
  if not definition then
    return { message = fault and fault.message or ('Tool "%s" is no longer there'):format(call.name) }
  end
  local shared = copying == "shared" and chat.shared or nil
  equip(chat, call, definition, args, shared and shared.tool)
  local denied = definition.before_call and definition.before_call(chat, call)
  if denied then
    return { message = denied, is_denied = true }
  end
  local handlers = call.tool.handlers
  local preparation = run_env(call)
    or (handlers and handlers.setup and not shared and run_setup(call))
    or describe(chat, call, definition)
  if copying == "first" then
    chat.shared = not preparation.message and call or nil
  elseif shared then
    -- The last of them knows best what `on_exit` should see.
    call.on_exit = shared.on_exit
    chat.shared = call
  end
  return preparation
end

return M
