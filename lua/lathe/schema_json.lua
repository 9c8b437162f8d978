-- Schemas of tools as JSON text. What a schema means is the library's business.
local M = {}

---What the values below a keyword of JSON Schema are: schemas by name, one schema, or a list of them.
M.below = {
  properties = "map",
  patternProperties = "map",
  ["$defs"] = "map",
  definitions = "map",
  dependentSchemas = "map",
  items = "schema",
  contains = "schema",
  additionalProperties = "schema",
  unevaluatedProperties = "schema",
  propertyNames = "schema",
  ["not"] = "schema",
  ["if"] = "schema",
  ["then"] = "schema",
  ["else"] = "schema",
  anyOf = "list",
  allOf = "list",
  oneOf = "list",
  prefixItems = "list",
}

---Whether a schema is one of lists.
---@param schema table
---@return boolean
local function takes_lists(schema)
  local kind = schema.type
  return kind == "array" or (type(kind) == "table" and vim.list_contains(kind, "array"))
end

---A copy of a schema in which empty tables that JSON Schema wants as objects are objects: Lua cannot tell `{}`
---from `[]`.
---@param schema any
---@return any
local function with_objects(schema)
  if type(schema) ~= "table" then
    return schema
  end
  if next(schema) == nil then
    return vim.empty_dict()
  end
  local result = {}
  for key, child in pairs(schema) do
    local kind = M.below[key]
    local says_nothing = key == "required" and type(child) == "table" and next(child) == nil
    if (type(child) ~= "table" or not kind) and not says_nothing then
      local is_empty = type(child) == "table" and next(child) == nil
      local is_object = key == "default" and is_empty and not takes_lists(schema)
      result[key] = is_object and vim.empty_dict() or child
    elseif kind == "schema" then
      result[key] = with_objects(child)
    elseif not says_nothing then
      local nested = (kind == "map" and next(child) == nil) and vim.empty_dict() or {}
      for name, value in pairs(child) do
        nested[name] = with_objects(value)
      end
      result[key] = nested
    end
  end
  return result
end

---The JSON text of a schema. Throws for what is no JSON.
---@param parameters table
---@return string
function M.encode(parameters)
  return vim.json.encode(with_objects(parameters))
end

---The JSON text of a tool's parameters.
---@param tool lathe.Tool
---@return string?
function M.text(tool)
  local parameters = tool.schema["function"].parameters
  return tool.schema_text or (parameters and M.encode(parameters)) or nil
end

return M
