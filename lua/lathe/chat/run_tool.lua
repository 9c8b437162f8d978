-- A tool run without a model: a hidden chat of one call.
local M = {}

local calls = require("lathe.tools.call")
local chats = require("lathe.chat")
local log = require("lathe.log")
local notify = require("lathe.notify")

---@param chat lathe.Chat
---@return string? content what a model would have read
local function content_of(chat)
  for i = #chat.messages, 1, -1 do
    if chat.messages[i].role == "tool" then
      return chat.messages[i].content
    end
  end
end

---@param callback fun(result: lathe.RunResult)
---@param result lathe.RunResult
local function deliver(callback, result)
  local ok, err = pcall(callback, result)
  if not ok then
    log.error("run_tool: the callback failed: " .. calls.readable(err))
    notify.error("run_tool: the callback failed: " .. calls.readable(err))
  end
end

---Runs a tool for code of the user; `run_tool` of the public API.
---@param name string
---@param args table?
---@param callback fun(result: lathe.RunResult)?
---@param opts { timeout: integer?, caller: any }?
---@return fun() cancel
function M.start(name, args, callback, opts)
  local done, chat, message = false
  local function cancel()
    if chat and not done then
      chat:stop()
    end
    done = done or chat == nil
  end
  if vim.in_fast_event() then
    local later = cancel
    vim.schedule(function()
      if not done then
        later = M.start(name, args, callback, opts)
      end
    end)
    return function()
      later()
    end
  end
  local function finish(result)
    if not done then
      done = true
      -- Scheduled: the callback always comes after `run_tool` has returned, and never inside the engine's work.
      vim.schedule(function()
        if callback then
          deliver(callback, result)
        end
      end)
    end
  end
  local status, display, code, outcome
  chat, message = chats.create({ hidden = true }, {
    is_single_call = true,
    run_opts = opts or {},
    on_call_finished = function(call, call_status)
      status, code, outcome = call_status, call.code, call.outcome
      display = call.block and call.block.body and table.concat(call.block.body, "\n") or nil
    end,
    on_turn_finished = function()
      finish({
        status = status or "stopped",
        content = content_of(chat) or "",
        display = display,
        code = code,
        outcome = outcome,
      })
      chat:close()
    end,
  })
  if not chat then
    finish({ status = "error", content = message })
    return cancel
  end
  local fault = chat.tool_registry:use(name)
  if fault then
    chat:close()
    finish({ status = "error", content = fault.message })
    return cancel
  end
  local ok, err = pcall(calls.request, chat, { { name = name, arguments = args or {} } }, false)
  if not ok then
    finish({ status = "error", content = "the arguments are not JSON: " .. calls.readable(err) })
    chat:close()
  end
  return cancel
end

return M
