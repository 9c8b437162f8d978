-- A tool of a native server as the engine runs it: a tool like every other, whose one cmd calls the handler.
local M = {}

local auto_approve = require("lathe.native.auto_approve")
local config = require("lathe.config")
local handler_request = require("lathe.native.handler_request")
local handler_call = require("lathe.native.handler_call")

---@param view lathe.Tools
---@return lathe.Call?
local function call_of(view)
  local function_call = view.tool and view.tool.function_call
  return function_call and view.chat.calls_by_wire[function_call.id] or nil
end

---@param record lathe.native.Record
---@return string
local function whose(record)
  return ("the tool %q of the server %q"):format(record.def.name, record.server.name)
end

---Calls the handler.
---@param record lathe.native.Record
---@param view lathe.Tools
---@param args table
---@param opts lathe.CmdOpts
---@return lathe.CmdResult?
local function call_handler(record, view, args, opts)
  local call, chat = call_of(view), view.chat
  local caller = handler_request.caller(record.server, {
    chat = chat,
    tool_call_id = call and call.function_call.id,
    auto_approve = call and call.native and call.native.auto_approve or chat.is_auto == true,
    caller = chat.run_opts and chat.run_opts.caller,
  })
  local is_running, early = true, nil
  local started = handler_call.start({
    kind = "tool",
    whose = whose(record),
    server = record.server,
    handler = record.def.handler,
    fields = { params = args, tool = record.def },
    caller = caller,
  }, function(outcome)
    if call then
      call.outcome = outcome
    end
    local given = { status = outcome.code == "OK" and "success" or "error", data = outcome }
    if is_running then
      early = given
    else
      opts.output_cb(given)
    end
  end)
  is_running = false
  if early then
    return early
  end
  opts.register_job({
    kill = function()
      started.cancel()
    end,
  })
end

---What the user's settings say to a call, before the gate looks at it.
---@param record lathe.native.Record
---@param chat lathe.Chat
---@param call lathe.Call
---@return string? denied
local function prepare(record, chat, call)
  local def, tool = record.def, call.tool
  local asks, denied = auto_approve.tool(record.server.name, def, call.args)
  if denied then
    return denied
  end
  local reviews_itself = def.needs_confirmation_window == false
  call.native = { auto_approve = not asks or chat.is_auto == true }
  tool.opts.require_approval_before = asks and not reviews_itself
  local limit = chat.run_opts and chat.run_opts.timeout
  if limit then
    tool.opts.timeout = limit
  end
end

---@param self lathe.Tool
---@param outcome any
---@param meta lathe.Meta
local function give(self, outcome, meta)
  if type(outcome) ~= "table" then -- words of the engine's: a time limit
    return meta.tools.chat:add_tool_output(self, { content = ("Error: %s %s"):format(self.name, tostring(outcome)) })
  end
  meta.tools.chat:add_tool_output(self, { content = outcome.text, attachments = outcome.media })
end

---The tool of a record whose fields were read.
---@param record lathe.native.Record
---@return lathe.Tool
function M.build(record)
  local def = record.def
  local limit = def.timeout
  if limit == nil then
    limit = def.needs_confirmation_window ~= false and config.get().native.timeout
  end
  return {
    name = record.name,
    description = record.description,
    schema = {
      type = "function",
      ["function"] = { name = record.name, description = record.description, parameters = record.schema },
    },
    schema_text = record.schema_text,
    strict_types = true,
    cmds = {
      function(view, args, opts)
        return call_handler(record, view, args, opts)
      end,
    },
    output = {
      success = function(self, stdout, meta)
        give(self, stdout[#stdout], meta)
      end,
      error = function(self, stderr, meta)
        give(self, stderr[#stderr], meta)
      end,
      prompt = function()
        return ('Run the tool "%s" of the server "%s"?'):format(def.name, record.server.displayName)
      end,
    },
    opts = { timeout = limit, require_approval_before = def.needs_confirmation_window ~= false },
    -- A function, since a call's copy of the tool must not copy what it leads to.
    before_call = function(chat, call)
      call.server = record.server.name
      return prepare(record, chat, call)
    end,
    fills_defaults = config.get().native.apply_defaults,
    server = record.server.name,
    tool = def.name,
  }
end

return M
