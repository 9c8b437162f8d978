-- Copies of tools: each call gets one of its own, so that what a tool does to itself ends with the call.
local M = {}

local tools = require("lathe.tools")

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
  local definition = tools.resolve(rawget(tool, "name"))
  local schema = definition and copy(definition.schema, {})
  rawset(tool, "schema", schema)
  return schema
end

local lazy = { __index = copy_schema }

---A call's own copy of a tool. The schema, most of what there is to copy, is copied when it is first looked at.
---@param definition lathe.Tool
---@return lathe.Tool
function M.tool(definition)
  if getmetatable(definition) then
    return copy(definition, {})
  end
  local result = {}
  -- What the author's table says about itself is about the copy.
  local seen = { [tools.source(definition.name) or definition] = result, [definition] = result }
  for key, item in next, definition do
    if key ~= "schema" then
      result[key] = type(item) == "table" and (seen[item] or copy(item, seen)) or item
    end
  end
  return setmetatable(result, lazy)
end

return M
