-- One tool call on the Lua side: its data, and the tool system as its author sees it. How it is made ready is in
-- `prepare_call.lua`, what of its tool runs in `run_call.lua`; when that is, is the engine's decision.
local M = {}

local config = require("lathe.config")
local core = require("lathe.core")
local forms = require("lathe.tools.function_forms")
local log = require("lathe.log")
local protected = require("lathe.tools.foreign_code").protected
local readable = require("lathe.readable").text

local hrtime = vim.uv.hrtime

M.readable = readable

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
    return config.get().interactions.chat.tools
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

---The tool system as a call sees it.
---@param chat lathe.Chat
---@param tool lathe.Tool? the call's copy; nil: the view belongs to no call
---@return lathe.Tools
function M.view(chat, tool)
  local stderr = tool and chat.stderr or {}
  return setmetatable({
    tool = tool,
    chat = chat,
    bufnr = chat.bufnr,
    status = "success",
    stdout = {},
    stderr = stderr,
  }, View)
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

---Moves what the last cmd gave to where the author's functions see it.
---@param call lathe.Call
function M.absorb(call)
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
  M.absorb(call)
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
