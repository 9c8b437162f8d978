-- What of a call's tool runs: its cmds one after the other, its output functions, `on_exit`.
local M = {}

local call_of = require("lathe.tools.call")
local core = require("lathe.core")
local foreign = require("lathe.tools.foreign_code")
local forms = require("lathe.tools.function_forms")
local jobs = require("lathe.tools.jobs")
local log = require("lathe.log")
local prepare_call = require("lathe.tools.prepare_call")
local shell = require("lathe.tools.shell_command")
local thrown = require("lathe.readable").thrown

local absorb = call_of.absorb
local hrtime = vim.uv.hrtime
local keep_trace, protected = foreign.keep_trace, foreign.protected

---@param call lathe.Call
---@param what string
local function drop(call, what)
  log.warn(('tool "%s", call %d: dropped %s'):format(call.name, call.id, what))
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

---A cmd begins: what the one before gave is where the author's functions see it.
---@param call lathe.Call
---@param cmd integer
---@return any entry of `cmds`
function M.begin_cmd(call, cmd)
  absorb(call)
  call.cmd, call.command = cmd, false
  local entry = call.tool.cmds[cmd]
  call.meta = forms.meta(call.view, entry)
  call.started_ns = call.started_ns or hrtime()
  return entry
end

---Runs one cmd.
---@param chat lathe.Chat
---@param call lathe.Call
---@param cmd integer
---@return boolean? succeeded nil: it still runs
function M.run_cmd(chat, call, cmd)
  local entry = M.begin_cmd(call, cmd)
  if forms.is_callable(entry) then
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

---What ran outside of Lua has ended: its text is the data of the cmd.
---@param chat lathe.Chat
---@param call lathe.Call
---@param succeeded boolean
---@param text string
function M.store_text(chat, call, succeeded, text)
  call.pending, call.has_pending, call.succeeded = shell.lines(text), true, succeeded
  record(chat, call, succeeded)
end

---Calls an output function as its kind wants it.
---@param call lathe.Call
---@param o lathe.OutputToRun
---@return boolean ok
---@return any err
local function call_output(call, o)
  local tool = call.tool
  local fn = tool.output[o.kind]
  if o.kind == "success" or o.kind == "error" then
    return xpcall(forms.call_output, keep_trace, o.kind, fn, tool, call.meta, call.args)
  end
  local meta = forms.meta(call.view, rawget(call.meta, "cmd") or tool.cmds[1], { reason = o.reason })
  return xpcall(forms.call_refusal, keep_trace, fn, tool, meta)
end

---Runs one of the output functions.
---@param chat lathe.Chat
---@param call lathe.Call
---@param o lathe.OutputToRun
---@return lathe.OutputRun? run nil: it ran
function M.run_output(chat, call, o)
  if not call.tool then
    prepare_call.equip_queued(chat, call)
  end
  local tool = call.tool
  if not tool or type(tool.output) ~= "table" or not tool.output[o.kind] then
    return { is_undefined = true }
  end
  if o.kind == "error" and o.message then
    call.has_pending, call.succeeded, call.pending = true, false, o.message
  end
  absorb(call)
  local ok, err = call_output(call, o)
  if ok then
    return nil
  end
  err = thrown(err)
  log.error(('tool "%s", output.%s: %s%s'):format(call.name, o.kind, err, foreign.trace()))
  return { error = err }
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

return M
