-- What the user's settings of native servers say to a call (N-38): the gate's last step, or a refusal. The gate
-- decides.
local M = {}

local config = require("lathe.config")
local log = require("lathe.log")
local notify = require("lathe.notify")
local readable = require("lathe.readable").text
local server_status = require("lathe.native.server_status")

---@param server string
---@param tool string?
---@return boolean
local function is_auto_approved(server, tool)
  local setting = server_status.settings(server).autoApprove
  if type(setting) == "table" then
    return tool ~= nil and vim.list_contains(setting, tool)
  end
  return setting == true
end

---@param server string
---@param tool lathe.native.ToolDef?
---@param args table
---@param uri string?
---@return boolean? asks
---@return string? denied
local function ask_function(fn, server, tool, args, uri)
  local ok, answer = pcall(fn, {
    action = tool and "use_mcp_tool" or "access_mcp_resource",
    server_name = server,
    tool_name = tool and tool.name or nil,
    arguments = vim.deepcopy(args),
    uri = uri,
    is_auto_approved_in_server = is_auto_approved(server, tool and tool.name),
    needs_confirmation_window = tool and tool.needs_confirmation_window ~= false or nil,
  })
  if ok and type(answer) == "string" then
    return true, answer
  elseif ok and (answer == nil or type(answer) == "boolean") then
    return answer ~= true
  end
  local why = ok and "it returned a " .. type(answer) or readable(answer)
  log.error("native.auto_approve failed: " .. why)
  notify.error("native.auto_approve failed, so it is asked: " .. why)
  return true
end

---Whether a call of a tool asks.
---@param server string
---@param tool lathe.native.ToolDef
---@param args table
---@return boolean asks
---@return string? denied why it must not run
function M.tool(server, tool, args)
  local setting = config.get().native.auto_approve
  if type(setting) == "function" then
    return ask_function(setting, server, tool, args)
  end
  return not (setting == true or is_auto_approved(server, tool.name))
end

---Whether reading a resource asks.
---@param server string
---@param uri string
---@return boolean asks
---@return string? denied why it must not be read
function M.resource(server, uri)
  local native = config.get().native
  if type(native.auto_approve) == "function" then
    local asks, denied = ask_function(native.auto_approve, server, nil, {}, uri)
    return asks and not native.resource_auto_approve, denied
  end
  return not native.resource_auto_approve
end

return M
