-- Copies of tools: each call gets one of its own, so that what a tool does to itself ends with the call.
local M = {}

local definition = require("lathe.tools.definition")

---A deep copy; cycles stay cycles, userdata and functions are shared.
---@param value table
---@param seen table<table, table> what has been copied
---@return table
local function copy(value, seen)
  local result = {}
  seen[value] = result
  for key, item in next, value do
    if type(item) == "table" then
      item = seen[item] or copy(item, seen)
    end
    if type(key) == "table" then
      key = seen[key] or copy(key, seen)
    end
    result[key] = item
  end
  local meta = getmetatable(value)
  if type(meta) == "table" then
    setmetatable(result, meta)
  end
  return result
end

---@param tool lathe.Tool
---@param key any
---@return any
local function copy_schema(tool, key)
  if key ~= "schema" then
    return nil
  end
  local schema = copy(getmetatable(tool).definition.schema, {})
  rawset(tool, "schema", schema)
  return schema
end

---A call's own copy of a tool. The schema, most of what there is to copy, is copied when it is first looked at.
---@param tool lathe.Tool its definition
---@return lathe.Tool
function M.tool(tool)
  local result = {}
  -- What the author's table says about itself is about the copy.
  local seen = { [definition.author_table(tool) or tool] = result, [tool] = result }
  local meta = getmetatable(tool)
  for key, item in next, tool do
    if meta or key ~= "schema" then
      result[key] = type(item) == "table" and (seen[item] or copy(item, seen)) or item
    end
  end
  return setmetatable(result, meta or { __index = copy_schema, definition = tool })
end

return M
