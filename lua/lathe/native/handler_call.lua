-- Handlers: how one is called, and the one outcome that comes of it. Which is called when, and what becomes of the
-- outcome, is not decided here.
local M = {}

local events = require("lathe.events")
local log = require("lathe.log")
local handler_request = require("lathe.native.handler_request")
local handler_response = require("lathe.native.handler_response")
local handler_result = require("lathe.native.handler_result")
local notify = require("lathe.notify")
local thrown = require("lathe.readable").thrown

---@class lathe.native.Run
---@field cancel fun(code: string?, text: string?) ends it; without a code only its signal is fired
---@field server string

local running = {} ---@type table<lathe.native.Run, true>
local warned = {} ---@type table<string, true>

---@param whose string
---@param text string
local function warn_once(whose, text)
  if not warned[whose .. text] then
    warned[whose .. text] = true
    vim.schedule(function()
      notify.warn(("%s %s"):format(whose, text))
    end)
  end
end

---@param value any
---@param builder lathe.native.Response
---@param whose string
---@return lathe.native.Outcome
local function outcome_of(value, builder, whose)
  local items, is_error = handler_result.items_of(value)
  if not items then
    return handler_result.error("INVALID_RESULT", handler_result.unusable(whose, "it is a " .. type(value)))
  elseif builder.kind == "tool" then
    return handler_result.of_items(items, is_error, whose)
  end
  local text = is_error and type(items[1]) == "table" and items[1].text or ""
  return { code = is_error and "ERROR" or "OK", items = items, text = text, media = {} }
end

---@class lathe.native.HandlerCall
---@field kind "tool"|"resource"|"prompt"
---@field whose string how messages call it
---@field server lathe.native.Server
---@field handler function
---@field fields table of the request
---@field caller lathe.native.Caller
---@field uri string?

---Calls a handler on the main loop. `done` gets the one outcome, maybe before this returns, maybe in a fast event.
---@param call lathe.native.HandlerCall
---@param done fun(outcome: lathe.native.Outcome)
---@return lathe.native.Run
function M.start(call, done)
  local req, fire = handler_request.new(call.server, call.fields, call.caller)
  local run = { server = call.server.name } ---@type lathe.native.Run
  local is_settled, was_returned, was_late_logged = false, false, false

  local function settle(outcome)
    is_settled = true
    running[run] = nil
    done(outcome)
  end

  local builder
  builder = handler_response.new(call.kind, function(value, is_late)
    if not is_late and not is_settled then
      return settle(outcome_of(value, builder, call.whose))
    end
    if not was_late_logged then
      was_late_logged = true
      log.debug(("native: %s: something came after its result was sent"):format(call.whose))
    end
    if was_returned then
      warn_once(call.whose, "returned a result and sent another one; the first counts")
    end
  end, function(err, trace)
    local text = thrown(err)
    log.error(("native: %s: %s%s"):format(call.whose, text, trace))
    if not is_settled then
      builder.is_settled = true
      settle(handler_result.error("HANDLER_ERROR", text, trace))
    end
  end, call.uri)

  function run.cancel(code, text)
    if is_settled then
      return
    end
    running[run] = nil
    builder.is_settled = true
    fire()
    if code then
      return settle(handler_result.error(code, text or code))
    end
    is_settled = true
  end
  running[run] = true

  local function keep_trace(err)
    return { err, debug.traceback("", 2) }
  end
  local ok, value = xpcall(call.handler, keep_trace, req, builder)
  if not ok then
    builder._throw(value[1], value[2])
  elseif not is_settled and value ~= nil then
    was_returned = true
    if value == builder then
      builder:send()
    else
      builder.is_settled = true
      settle(outcome_of(value, builder, call.whose))
    end
  end
  return run
end

---Calls the handler of a resource or a prompt: with a time limit, events, and `done` once on the main loop.
---@param call lathe.native.HandlerCall
---@param limit_ms integer
---@param chat lathe.Chat?
---@param done fun(outcome: lathe.native.Outcome)
---@return fun() cancel
function M.timed(call, limit_ms, chat, done)
  local started_ms, is_over, run = vim.uv.now(), false, nil
  local timer = assert(vim.uv.new_timer())
  local data = {
    kind = call.kind,
    source = "native",
    server = call.server.name,
    tool = call.uri or call.fields.prompt and call.fields.prompt.name,
    args = call.fields.params,
    bufnr = chat and chat.bufnr,
    chat_id = chat and chat.id,
  }
  local function finish(outcome)
    if is_over then
      return
    end
    is_over = true
    timer:stop()
    timer:close()
    vim.schedule(function()
      local more = { code = outcome.code, status = outcome.code == "OK" and "success" or "error" }
      more.duration_ms = vim.uv.now() - started_ms
      events.emit_item("ToolFinished", vim.tbl_extend("force", data, more))
      done(outcome)
    end)
  end
  local function begin()
    if is_over then
      return
    end
    events.emit_item("ToolStarted", vim.deepcopy(data))
    timer:start(limit_ms, 0, function()
      if run then
        run.cancel()
      end
      finish(handler_result.error("TIMEOUT", ("%s timed out after %d ms"):format(call.whose, limit_ms)))
    end)
    run = M.start(call, finish)
  end
  if vim.in_fast_event() then
    vim.schedule(begin)
  else
    begin()
  end
  return function()
    if run then
      run.cancel()
    end
    finish(handler_result.error("CANCELLED", call.whose .. " was cancelled"))
  end
end

---Ends what runs of a server.
---@param server string
---@param text string
function M.cancel_server(server, text)
  for run in pairs(vim.tbl_extend("force", {}, running)) do
    if run.server == server then
      run.cancel("CANCELLED", text)
    end
  end
end

return M
