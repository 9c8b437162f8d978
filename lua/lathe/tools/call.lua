-- One tool call on the Lua side: its copy of the tool, its data, and the performers that run the author's functions.
-- When each of them runs is the engine's decision; how a call looks is not known here.
local M = {}

local copy = require("lathe.tools.copy_tool")
local core = require("lathe.core")
local definitions = require("lathe.tools.definition")
local foreign = require("lathe.tools.foreign_code")
local forms = require("lathe.tools.function_forms")
local gate = require("lathe.tools.gate_facts")
local jobs = require("lathe.tools.jobs")
local log = require("lathe.log")
local shell = require("lathe.tools.shell_command")

local hrtime = vim.uv.hrtime
local keep_trace, protected = foreign.keep_trace, foreign.protected
local readable = require("lathe.readable").text
local thrown = require("lathe.readable").thrown

M.readable = readable

-- Flags of `prepare_call`'s answer.
local SUCCESS, ERROR, REJECTED, CANCELLED, ON_EXIT = 1, 2, 4, 8, 16

-- The tool system as authors see it ----------------------------------------------------------------------------------

---@class lathe.Tools
---@field constants table<string, string>
local View = { constants = { STATUS_ERROR = "error", STATUS_SUCCESS = "success" } }

---@param view lathe.Tools
---@param key any
---@return any
function View.__index(view, key)
  if key == "agent" then -- functions of the older form may look for it there
    return view
  elseif key == "tools_config" then
    return require("lathe.config").get().interactions.chat.tools
  elseif key == "messages" or key == "adapter" then
    return rawget(view, "chat")[key]
  end
  return View[key]
end

---Runs calls that the model did not make, after those that are open; their results are sent like the model's own.
---@param chat lathe.Chat
---@param calls table[] `{ id?, name, arguments }` or as in `chat.messages`
function View:execute(chat, calls) -- luacheck: no self
  M.request(chat, calls, true)
end

---The view of the tool system that belongs to no call.
---@param chat lathe.Chat
---@return lathe.Tools
function M.view(chat)
  return setmetatable({ chat = chat, bufnr = chat.bufnr, status = "success", stdout = {}, stderr = {} }, View)
end

---Asks the engine to run calls.
---@param chat lathe.Chat
---@param calls table[]
---@param submit boolean whether the results are sent
function M.request(chat, calls, submit)
  local list = {}
  for i, call in ipairs(calls) do
    local fn = call["function"] or call
    local arguments = fn.arguments
    if arguments == nil then
      arguments = ""
    elseif type(arguments) ~= "string" then
      arguments = next(arguments) == nil and "{}" or vim.json.encode(arguments)
    end
    list[i] = { id = call.id, name = fn.name, arguments = arguments }
  end
  core.lib.request_calls({ chat = chat.id, calls = list, tools = chat.tool_registry:offered(), submit = submit })
end

-- Preparing ----------------------------------------------------------------------------------------------------------

---A call that the model or a caller asked for.
---@param chat lathe.Chat
---@param id integer
---@param function_call lathe.FunctionCall
---@param runs string? the tool that it names, when that is another one
function M.add(chat, id, function_call, runs)
  -- All fields at once: a table that grows field by field is allocated several times, which shows in large batches.
  local call = {
    id = id,
    name = runs or function_call["function"].name,
    function_call = function_call,
    source = "lua",
    finished = false,
    killed = false,
    tool = false,
    args = false,
    view = false,
    meta = false,
    block = false,
    cmd = false,
    started_ns = false,
    result = nil,
    has_pending = false,
    succeeded = false,
    on_exit = false,
    is_judged = false,
    pending = nil,
    failure = nil,
  }
  chat.calls[id] = call
  chat.calls_by_wire[function_call.id] = call
end

---Gives the call its copy of the tool and its view of the tool system.
---@param chat lathe.Chat
---@param call lathe.Call
---@param definition lathe.Tool
---@param args table
---@param shared lathe.Tool? the copy that calls in a row share
---@return lathe.Tool
local function equip(chat, call, definition, args, shared)
  local tool = shared or copy.tool(definition)
  tool.args = args
  tool.function_call = call.function_call
  local view = setmetatable({
    tool = tool,
    chat = chat,
    bufnr = chat.bufnr,
    status = "success",
    stdout = {},
    stderr = chat.stderr,
  }, View)
  call.tool, call.args, call.view, call.meta = tool, args, view, forms.meta(view)
  return tool
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

---Runs `env` and, unless the copy has been set up, `handlers.setup`.
---@param chat lathe.Chat
---@param call lathe.Call
---@param definition lathe.Tool
---@param is_set_up boolean
---@return boolean prepared
---@return integer|string n_cmds or what is wrong, for the model
---@return integer|boolean flags or whether `setup` was reached
---@return string|boolean approval or whether there is an `on_exit`
---@return integer? timeout_ms
local function set_up(chat, call, definition, is_set_up)
  local tool = call.tool
  if tool.env then
    local ok, env = protected(call, "env", tool.env, tool)
    if ok and env ~= nil and type(env) ~= "table" then
      ok, env = false, "expected a table, got " .. type(env)
    end
    if not ok then
      return false, ('Tool "%s": env failed: %s'):format(call.name, env), false, false
    end
    call.env = env
  end
  local handlers = tool.handlers
  if handlers and handlers.setup and not is_set_up then
    local ok, text = protected(call, "setup", forms.call, handlers.setup, tool, call.meta)
    if not ok then
      local exit = type(tool.handlers) == "table" and tool.handlers.on_exit ~= nil
      return false, ('Tool "%s": setup failed: %s'):format(call.name, text), true, exit
    end
    local on_exit = handlers.on_exit
    handlers = tool.handlers -- `setup` may have put another table there
    local wrong = misfit(tool)
    if wrong then
      tool.handlers = { on_exit = on_exit }
      return false, ('Tool "%s": setup left %s'):format(call.name, wrong), true, on_exit ~= nil
    end
  end

  if type(tool.cmds) ~= "table" then
    local exit = type(handlers) == "table" and handlers.on_exit ~= nil
    return false, ('Tool "%s": cmds: expected a list, got %s'):format(call.name, type(tool.cmds)), true, exit
  end
  local output = tool.output
  local defines = 0
  if output then
    defines = (output.success and SUCCESS or 0)
      + (output.error and ERROR or 0)
      + (output.rejected and REJECTED or 0)
      + (output.cancelled and CANCELLED or 0)
  end
  if handlers and handlers.on_exit then
    defines = defines + ON_EXIT
    call.on_exit = handlers.on_exit
  end
  local limit = tool.opts.timeout
  if limit == nil then
    limit = chat.config.tools.opts.timeout
  end
  -- Whole milliseconds; a number that is too large for them, such as math.huge, is no limit.
  limit = limit and limit < 2 ^ 53 and math.ceil(limit) or nil
  local approval, flags = gate.settings(definition, tool)
  return true, #tool.cmds, defines + flags, approval, limit
end

---Makes the call's copy of the tool, or takes the one that calls in a row share, and makes it ready.
---@param chat lathe.Chat
---@param call lathe.Call
---@param args table
---@param copying "own"|"first"|"shared" first: the calls that follow share the copy
---@return boolean prepared
---@return integer|string n_cmds or what is wrong, for the model
---@return integer|boolean flags or whether `setup` was reached
---@return string|boolean approval or whether there is an `on_exit`
---@return integer|true|nil timeout_ms or that the user's settings forbid it
function M.prepare(chat, call, args, copying)
  local definition, fault, source = chat.tool_registry:resolve(call.name)
  call.source = source
  if not definition then
    return false, fault and fault.message or ('Tool "%s" is no longer there'):format(call.name), false, false
  end
  local shared = copying == "shared" and chat.shared or nil
  equip(chat, call, definition, args, shared and shared.tool)
  local denied = definition.before_call and definition.before_call(chat, call)
  if denied then
    return false, denied, false, false, true
  end
  local prepared, a, b, c, d = set_up(chat, call, definition, shared ~= nil)
  if copying == "first" then
    chat.shared = prepared and call or nil
  elseif shared then
    -- The last of them knows best what `on_exit` should see.
    call.on_exit = shared.on_exit
    chat.shared = call
  end
  return prepared, a, b, c, d
end

---What the tool's label is, besides its name.
---@param call lathe.Call
---@return string?
function M.label(call)
  local output = call.tool and call.tool.output
  if output and output.cmd_string then
    local ok, text = protected(call, "cmd_string", forms.call, output.cmd_string, call.tool, call.meta)
    if ok and text ~= nil then
      return readable(text)
    end
  end
end

---The question to ask.
---@param call lathe.Call
---@return string
function M.question(call)
  local output = call.tool.output
  if output and output.prompt then
    local ok, text = protected(call, "prompt", forms.call, output.prompt, call.tool, call.meta)
    if ok and text ~= nil then
      return readable(text)
    end
  end
  return ('Run the "%s" tool?'):format(call.name)
end

-- Cmds ---------------------------------------------------------------------------------------------------------------

---@param call lathe.Call
---@param what string
local function drop(call, what)
  log.warn(('tool "%s", call %d: dropped %s'):format(call.name, call.id, what))
end

---Moves what the last cmd gave to where the author's functions see it.
---@param call lathe.Call
local function absorb(call)
  if not call.has_pending then
    return
  end
  local data = call.pending
  call.has_pending, call.pending = false, nil
  if call.succeeded then
    -- The very table that a function gave, whatever else stands in it.
    call.input = call.result or { status = "success", data = data }
  end
  call.result = nil
  if not call.succeeded then
    call.failure = data
    -- The list is that of all calls of the turn, and its last entry is taken for this one's.
    if data == nil and type(call.view.stderr) == "table" and call.view.stderr[1] ~= nil then
      data = "Error calling " .. call.name
    end
  end
  if data ~= nil then
    local name = call.succeeded and "stdout" or "stderr"
    local list = call.view[name]
    if type(list) ~= "table" then -- the tool has put something else there
      list = {}
      call.view[name] = list
    end
    list[#list + 1] = data
  end
  call.view.status = call.succeeded and "success" or "error"
end

---@param result table
---@return any status
---@return any data
local function read_result(result)
  return result.status, result.data
end

---Takes a cmd's result, from wherever it comes.
---@param call lathe.Call
---@param result any
---@return boolean succeeded
local function settle(call, result)
  local can_read, status, data = true, nil, nil
  if type(result) == "table" then
    can_read, status, data = pcall(read_result, result)
  end
  call.result = nil
  if can_read and (status == "success" or status == "error") then
    call.pending, call.result = data, result
  else
    local got = type(result) == "table" and "status = " .. vim.inspect(status) or vim.inspect(result)
    call.pending = ('cmd %d of "%s" gave no valid status: expected "success" or "error", got %s'):format(
      call.cmd,
      call.name,
      got
    )
    status = "error"
  end
  call.has_pending = true
  call.succeeded = status == "success"
  return call.succeeded
end

---Runs a function of `cmds`.
---@param chat lathe.Chat
---@param call lathe.Call
---@param cmd integer
---@param fn function
---@return boolean? succeeded nil: it still runs
local function run_function(chat, call, cmd, fn)
  local running, settled = true, false
  local opts = {
    -- May be called in a fast event.
    output_cb = function(result)
      if settled or call.finished then
        return drop(call, "a result that came after the first, or after the call was over")
      end
      settled = true
      local succeeded = settle(call, result)
      if not running then
        core.lib.finish_cmd(chat.id, call.id, cmd, succeeded)
      end
    end,
    register_job = function(job)
      jobs.register(call, job)
    end,
  }
  local ok, result = xpcall(forms.call_cmd, keep_trace, fn, call.view, call.args, call.input, opts)
  running = false
  if not ok then
    local text = thrown(result)
    log.error(('tool "%s", cmd %d: %s%s'):format(call.name, cmd, text, foreign.trace()))
    result = { status = "error", data = text }
  end
  if settled then
    if result ~= nil then
      drop(call, "what a function returned after it had called output_cb")
    end
    return call.succeeded
  end
  if result == nil then
    return nil
  end
  settled = true
  return settle(call, result)
end

---Records how a command ended under its flag.
---@param chat lathe.Chat
---@param call lathe.Call
---@param succeeded boolean
local function record(chat, call, succeeded)
  if call.flag ~= nil then
    chat.tool_registry.flags[call.flag] = succeeded
  end
end

---Runs one cmd.
---@param chat lathe.Chat
---@param call lathe.Call
---@param cmd integer
---@return boolean? succeeded nil: it still runs
function M.run_cmd(chat, call, cmd)
  absorb(call)
  call.cmd = cmd
  local entry = call.tool.cmds[cmd]
  call.meta = forms.meta(call.view, entry)
  call.started_ns = call.started_ns or hrtime()
  if forms.is_callable(entry) then
    call.command = false
    local wrong = forms.misfit("cmd", entry)
    if wrong then -- `setup` has put it there
      return settle(call, { status = "error", data = ('cmd %d of "%s" %s'):format(cmd, call.name, wrong) })
    end
    return run_function(chat, call, cmd, entry)
  end
  call.command = true
  local fault = shell.start(chat, call, cmd, entry)
  if fault then
    record(chat, call, false)
    return settle(call, { status = "error", data = fault })
  end
end

---A command has ended: its text is the data of the cmd.
---@param chat lathe.Chat
---@param call lathe.Call
---@param succeeded boolean
---@param text string
function M.store_text(chat, call, succeeded, text)
  call.pending, call.has_pending, call.succeeded = shell.lines(text), true, succeeded
  record(chat, call, succeeded)
end

-- After the cmds -----------------------------------------------------------------------------------------------------

---A call that is cancelled in the queue has no copy yet: it gets one, but nothing is set up.
---@param chat lathe.Chat
---@param call lathe.Call
local function equip_queued(chat, call)
  local definition = chat.tool_registry:resolve(call.name)
  if definition then
    local ok, args = pcall(vim.json.decode, call.function_call["function"].arguments)
    equip(chat, call, definition, ok and type(args) == "table" and args or {})
  end
end

---Runs one of the output functions.
---@param chat lathe.Chat
---@param call lathe.Call
---@param kind "success"|"error"|"rejected"|"cancelled"
---@param text string? the reason (rejected), or an error of the engine's own
---@return string|false|nil error false: the tool does not define it
function M.run_output(chat, call, kind, text)
  if not call.tool then
    equip_queued(chat, call)
  end
  local view, tool = call.view, call.tool
  if not tool or type(tool.output) ~= "table" or not tool.output[kind] then
    return false
  end
  if kind == "error" and text then
    call.has_pending, call.succeeded, call.pending = true, false, text
  end
  absorb(call)
  local fn = tool.output[kind]
  local ok, err
  if kind == "success" or kind == "error" then
    ok, err = xpcall(forms.call_output, keep_trace, kind, fn, tool, call.meta, call.args)
  else
    local opts = kind == "rejected" and { reason = text } or {}
    local meta = forms.meta(view, rawget(call.meta, "cmd") or tool.cmds[1], opts)
    ok, err = xpcall(forms.call_refusal, keep_trace, fn, tool, meta)
  end
  if ok then
    return nil
  end
  err = thrown(err)
  log.error(('tool "%s", output.%s: %s%s'):format(call.name, kind, err, foreign.trace()))
  return err
end

---Runs `handlers.on_exit`.
---@param chat lathe.Chat
---@param call lathe.Call
---@param shared boolean of the copy that calls in a row share: this call may have none
function M.run_exit(chat, call, shared)
  if shared then
    call, chat.shared = chat.shared or call, nil
  end
  -- The tool may have taken its handlers away meanwhile; what `setup` began must be ended.
  local handlers = call.tool.handlers
  local on_exit = type(handlers) == "table" and handlers.on_exit or call.on_exit
  local ok, text = protected(call, "on_exit", forms.call, on_exit, call.tool, call.meta)
  if not ok then
    require("lathe.notify").warn(('tool "%s": on_exit failed: %s'):format(call.name, text))
  end
end

---@type table<lathe.CallStatus, string>
local codes = {
  success = "OK",
  rejected = "REJECTED",
  denied = "DENIED",
  timeout = "TIMEOUT",
  cancelled = "CANCELLED",
  stopped = "CANCELLED",
  skipped = "CANCELLED",
}

---How a call of a native server ended, as its users know it (N-47).
---@param chat lathe.Chat
---@param call lathe.Call
---@param status lathe.CallStatus
local function note_code(chat, call, status)
  local refused = not call.tool and chat.tool_registry:refused(call.name) or nil
  if refused then
    call.source, call.server = refused.kind, refused.server
  end
  if call.server then
    local refusal = refused and refused.code or "INVALID_ARGUMENTS"
    call.code = codes[status] or (call.outcome and call.outcome.code) or (call.tool and "ERROR") or refusal
  end
end

---The call is over; what comes later for it is dropped.
---@param chat lathe.Chat
---@param call lathe.Call
---@param status lathe.CallStatus
function M.finish(chat, call, status)
  absorb(call)
  note_code(chat, call, status)
  call.finished = true
  chat.calls[call.id] = nil
  chat.calls_by_wire[call.function_call.id] = nil
end

---How long the cmds took, in ms; nil when none ran.
---@param call lathe.Call
---@return number?
function M.elapsed_ms(call)
  return call.started_ns and (hrtime() - call.started_ns) / 1e6
end

---Adds to the result of a call: `(tool, { content, display })` or `(tool, for_llm, for_user)`.
---@param chat lathe.Chat
---@param tool lathe.Tool
---@param output any
---@param for_user any
---@return lathe.Call? call nil: it is over, nothing was added
---@return string? display nil: nothing is shown
function M.add_output(chat, tool, output, for_user)
  local function_call = type(tool) == "table" and tool.function_call
  local call = type(function_call) == "table" and function_call.id and chat.calls_by_wire[function_call.id]
  if not call then
    log.warn("dropped the output of a call that is over: " .. readable(type(tool) == "table" and tool.name or tool))
    return nil
  end
  local content, display = output, for_user
  if type(output) == "table" and (output.content ~= nil or output.display ~= nil or output.attachments) then
    content, display = output.content, output.display
  end
  if content == nil then
    content = ""
  elseif type(content) ~= "string" then
    content = vim.inspect(content)
  end
  if display == nil then
    display = content
  elseif display and type(display) ~= "string" then
    display = vim.inspect(display)
  end
  core.lib.add_output(chat.id, call.id, content)
  for _, media in ipairs(type(output) == "table" and output.attachments or {}) do
    core.lib.add_media(chat.id, call.id, media)
  end
  return call, display ~= "" and display or nil
end

return M
