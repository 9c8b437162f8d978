-- Schemas as authors write them: without their envelope, with `required` in the wrong place, with a type that does not exist.
-- What a schema means is the library's business.
local M = {}

local below = require("lathe.schema_json").below

local types = {
  array = true,
  boolean = true,
  integer = true,
  null = true,
  number = true,
  object = true,
  string = true,
}

-- The envelope --------------------------------------------------------------------------------------------------------

---A tool's schema in the form that all of lathe knows: `{ type = "function", ["function"] = { name, … } }`.
---@param schema any
---@param name string of the tool, for a schema that has none
---@return any
function M.with_envelope(schema, name)
  if type(schema) ~= "table" or schema["function"] ~= nil then
    return schema
  elseif schema.parameters == nil and schema.name == nil and schema.description == nil then
    return schema
  end
  local inner = {}
  for key, value in pairs(schema) do
    inner[key] = value
  end
  inner.type, inner.name = nil, schema.name or name
  return { type = "function", ["function"] = inner }
end

-- `required` in a property --------------------------------------------------------------------------------------------

---@param child table
---@param kind "map"|"schema"|"list"
---@param visit fun(schema: any): any
---@return table
local function each_below(child, kind, visit)
  if kind == "schema" and not vim.islist(child) then
    return visit(child)
  end
  local result, is_same = {}, true
  for key, value in pairs(child) do
    result[key] = visit(value)
    is_same = is_same and rawequal(result[key], value)
  end
  return is_same and child or setmetatable(result, getmetatable(child))
end

---@param schema any
---@param lifted string[] the names of the properties are added
---@param seen table<table, true> the schemas around this one
---@return any schema another table when something was lifted: the given one is the author's
local function lift(schema, lifted, seen)
  if type(schema) ~= "table" or seen[schema] then
    return schema
  end
  seen[schema] = true
  local result = schema
  local function set(key, value)
    if rawequal(result, schema) then
      result = setmetatable(vim.tbl_extend("force", {}, schema), getmetatable(schema))
    end
    result[key] = value
  end
  local needed = {}
  for name, property in pairs(type(schema.properties) == "table" and schema.properties or {}) do
    if type(property) == "table" and type(property.required) == "boolean" then
      lifted[#lifted + 1] = tostring(name)
      needed[#needed + 1] = property.required and name or nil
    end
  end
  if type(schema.required) == "boolean" then
    set("required", nil) -- of a property; whoever has that has noted it
  end
  if needed[1] then
    table.sort(needed)
    local list = type(schema.required) == "table" and vim.list_extend({}, schema.required) or {}
    for _, name in ipairs(needed) do
      if not vim.list_contains(list, name) then
        list[#list + 1] = name
      end
    end
    set("required", list)
  end
  for keyword, kind in pairs(below) do
    local child = schema[keyword]
    if type(child) == "table" then
      local changed = each_below(child, kind, function(one)
        return lift(one, lifted, seen)
      end)
      if not rawequal(changed, child) then
        set(keyword, changed)
      end
    end
  end
  seen[schema] = nil
  return result
end

---Puts the properties that say `required = true` of themselves into the list of their object, where JSON Schema has them.
---@param schema any of parameters
---@return any schema
---@return string? notice what was done; nil: nothing
function M.lift_required(schema)
  local lifted = {}
  local result = lift(schema, lifted, {})
  if not lifted[1] then
    return result
  end
  table.sort(lifted)
  local notice = "`required` of the schema is a list of names beside `properties`: it was moved there from %s"
  return result, notice:format(table.concat(vim.fn.uniq(lifted) --[[@as string[] ]], ", "))
end

-- Faults --------------------------------------------------------------------------------------------------------------

---@param value any
---@return boolean
local function are_names(value)
  if type(value) ~= "table" or not vim.islist(value) then
    return false
  end
  for _, name in ipairs(value) do
    if type(name) ~= "string" then
      return false
    end
  end
  return true
end

---@param schema table
---@return string? message
local function type_fault(schema)
  local list = type(schema.type) == "table" and schema.type or { schema.type }
  for _, name in ipairs(list) do
    if not types[name] then
      return ("type: there is no %s"):format(vim.inspect(name))
    end
  end
  if schema.required ~= nil and not are_names(schema.required) then
    return "required: expected a list of strings"
  elseif schema.enum ~= nil and (type(schema.enum) ~= "table" or not vim.islist(schema.enum)) then
    return "enum: expected a list"
  end
end

---@param schema any
---@param path string
---@param seen table<table, true>
---@return string? message
local function find_fault(schema, path, seen)
  local kind_of = type(schema)
  if kind_of == "boolean" or kind_of == "function" or kind_of == "userdata" or seen[schema] then
    return nil -- what is no JSON is told by whoever writes it as that
  elseif type(schema) ~= "table" then
    return ("%s: expected a schema, got %s"):format(path, type(schema))
  end
  seen[schema] = true
  local prefix = path == "" and "" or path .. "."
  local message = type_fault(schema)
  if message then
    return prefix .. message
  end
  for keyword, kind in pairs(below) do
    local child = schema[keyword]
    if child ~= nil and type(child) ~= "table" and not (kind == "schema" and type(child) == "boolean") then
      return ("%s%s: expected a table, got %s"):format(prefix, keyword, type(child))
    elseif kind == "schema" and type(child) == "table" and not (vim.islist(child) and child[1] ~= nil) then
      message = find_fault(child, prefix .. keyword, seen)
    else
      for name, one in pairs(type(child) == "table" and child or {}) do
        message = message or find_fault(one, ("%s%s.%s"):format(prefix, keyword, tostring(name)), seen)
      end
    end
    if message then
      return message
    end
  end
end

---What is wrong with a schema whose parts can be seen to be none.
---@param schema table
---@return string? message with the place
function M.fault(schema)
  return find_fault(schema, "", {})
end

return M
