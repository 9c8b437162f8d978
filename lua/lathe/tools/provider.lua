-- The part of a provider's tool that runs here: an adapter may say that the provider's tool is one of the configuration.
local M = {}

local provider_tools = require("lathe.adapters.provider_tools")
local tools = require("lathe.tools")

---The part of a provider's tool that runs here.
---@param adapter lathe.Adapter
---@param name string
---@param entry lathe.AdapterTool
---@return lathe.Tool? tool nil: there is none
---@return string? message why it should be there and is not
---@return boolean? told
function M.client_tool(adapter, name, entry)
  local path = entry.opts and entry.opts.client_tool
  if path == nil then
    return nil
  end
  local own = type(path) == "string" and path:match("^interactions%.chat%.tools%.(.+)$")
  local tool, message
  if own then
    tool, message = tools.resolve(own)
  end
  if tool then
    return tool
  end
  local what = message or ("there is no %s, expected interactions.chat.tools.<name>"):format(vim.inspect(path))
  return nil, provider_tools.fault(adapter, name, "opts.client_tool: " .. what), message ~= nil
end

return M
