-- The source of the tools of native servers, and of a group for each server.
local records = require("lathe.native.records")

---@type lathe.Source
local M = { name = "native" }

M.version = records.version
M.list = records.list

function M.resolve(name)
  local tool = records.tool(name)
  return tool and { tool = tool }
end

function M.refresh(name)
  if name then
    records.refresh(name)
  else
    records.begin_listing()
  end
end

function M.status()
  return { state = "ready" }
end

return M
