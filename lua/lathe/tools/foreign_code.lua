-- Calls of what tools' authors wrote. When they are made, and what they mean, is not here.
local M = {}

local log = require("lathe.log")
local thrown = require("lathe.readable").thrown

local trace ---@type string?

---The handler for `xpcall`: keeps the traceback for `M.trace`.
---@param err any
---@return any
function M.keep_trace(err)
  trace = debug.traceback("", 2)
  return err
end

---The traceback of the last throw.
---@return string
function M.trace()
  return trace or ""
end

---Calls a function of the tool's author. A throw is readable text, its traceback goes to the log.
---@param call lathe.Call
---@param what string for the log
---@param fn function
---@return boolean ok
---@return any result or the text of the error
function M.protected(call, what, fn, ...)
  local ok, result = xpcall(fn, M.keep_trace, ...)
  if ok then
    return true, result
  end
  local text = thrown(result)
  log.error(('tool "%s", %s: %s%s'):format(call.name, what, text, M.trace()))
  return false, text
end

return M
