-- Fields of a native server's tool that are functions: read before each request, and what is taken when they fail (N-15
-- to N-18).
local M = {}

local encode = require("lathe.schema_json").encode
local notify = require("lathe.notify")
local readable = require("lathe.readable").text
local schema_forms = require("lathe.schema_forms")
local validate = require("lathe.native.validate")

local hrtime = vim.uv.hrtime

-- A field that takes longer is told to the user.
local SLOW_MS = 50

local EMPTY = '{"type":"object","properties":{}}'

---@param record lathe.native.Record
---@param what string
---@param message string
---@param how "warn"|"error"
local function complain(record, what, message, how)
  notify.once(
    ("%s of the tool %q of the server %q: %s"):format(what, record.def.name, record.server.name, message),
    how
  )
end

---@param record lathe.native.Record
---@param what string
---@param fn function
---@return boolean ok
---@return any value
local function ask(record, what, fn)
  local started = hrtime()
  local ok, value = pcall(fn, record.def)
  if (hrtime() - started) / 1e6 > SLOW_MS then
    complain(record, what, ("takes longer than %d ms and holds the editor meanwhile"):format(SLOW_MS), "warn")
  end
  if not ok then
    complain(record, what, "failed: " .. readable(value), "error")
  end
  return ok, value
end

---@param record lathe.native.Record
---@return string
local function description_of(record)
  local description = record.def.description
  if type(description) == "function" then
    local ok, text = ask(record, "description", description)
    if ok and type(text) ~= "string" then
      complain(record, "description", "is not a string, but " .. type(text), "error")
    end
    description = ok and type(text) == "string" and text or record.def.name
  end
  return description or ""
end

---@param record lathe.native.Record
---@return string json the last good one where there is none now
local function schema_of(record)
  local schema = record.def.inputSchema
  local last = record.schema_text or EMPTY
  if type(schema) == "function" then
    local ok, answer = ask(record, "inputSchema", schema)
    if not ok then
      return last
    end
    schema = answer
  elseif schema == nil then
    return EMPTY
  end
  local notice
  schema, notice = schema_forms.lift_required(schema)
  if notice then
    complain(record, "inputSchema", notice, "warn")
  end
  local fault = validate.schema_fault(schema) or schema_forms.fault(schema)
  if fault then
    complain(record, "inputSchema", "is no object schema: " .. fault, "error")
    return last
  end
  if schema.properties == nil then
    schema = vim.tbl_extend("force", schema, { properties = vim.empty_dict() })
  end
  local encoded, json = pcall(encode, schema)
  if not encoded then
    complain(record, "inputSchema", "is no JSON: " .. tostring(json):gsub("^.-:%d+: ", ""), "error")
    return last
  end
  return json
end

---Looks at the dynamic fields of a tool; its definition is made anew only when they changed.
---@param record lathe.native.Record
function M.read(record)
  local description, json = description_of(record), schema_of(record)
  if description ~= record.description or json ~= record.schema_text then
    record.description, record.schema_text, record.schema = description, json, nil
    record.tool = nil
  end
end

---Whether a tool has fields that are functions.
---@param record lathe.native.Record
---@return boolean
function M.are_any(record)
  return type(record.def.description) == "function" or type(record.def.inputSchema) == "function"
end

return M
