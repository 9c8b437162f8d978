-- What corpus/agents.rs runs in its editor.
-- luacheck: globals tools

local M = {}

function M.varargs()
  tools = { varargs = corpus("tools", "varargs"), asks = corpus("tools", "varargs") }
  local asks = tools.asks
  asks.name, asks.schema["function"].name, asks.opts = "asks", "asks", { require_approval_before = true }
end

return M
