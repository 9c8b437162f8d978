-- What definitions of native servers must look like (N-6 to N-8). Nothing is called, loaded or changed here.
local M = {}

local schema_forms = require("lathe.schema_forms")

---@class lathe.native.Fault
---@field type "VALIDATION"
---@field code string
---@field message string
---@field path string where in the definition
---@field is_inner boolean? it is inside of a schema that looks like one
local Fault = {}
Fault.__index = Fault

---@return string
function Fault:__tostring()
  return (self.path ~= "" and self.path .. ": " or "") .. ("%s (%s)"):format(self.message, self.code)
end

---@param code string
---@param path string
---@param message string
---@return lathe.native.Fault
function M.fault(code, path, message)
  return setmetatable({ type = "VALIDATION", code = code, message = message, path = path }, Fault)
end

---@param path string
---@param key string|integer
---@return string
local function join(path, key)
  if type(key) == "number" then
    return ("%s[%d]"):format(path, key)
  end
  return path == "" and key or path .. "." .. key
end

---@class lathe.native.Check
---@field path string
---@field def table
---@field faults lathe.native.Fault[]
local Check = {}
Check.__index = Check

---@param code string
---@param key string
---@param wanted string
function Check:fail(code, key, wanted)
  local value = self.def[key]
  local got = type(value) == "string" and ("%q"):format(value) or type(value)
  self.faults[#self.faults + 1] = M.fault(code, join(self.path, key), ("expected %s, got %s"):format(wanted, got))
end

---@param key string
---@param code string
---@param is_needed boolean?
function Check:text(key, code, is_needed)
  local value = self.def[key]
  local fits = type(value) == "string" and (value:find("%S") ~= nil or not is_needed)
  if not fits and (value ~= nil or is_needed) then
    self:fail(code, key, is_needed and "a text that is not empty" or "a string")
  end
end

---@param key string
---@param other string? type that it may have besides
function Check:dynamic(key, other)
  local kind = type(self.def[key])
  if kind ~= "nil" and kind ~= "function" and kind ~= other then
    self:fail("INVALID_DEFINITION", key, ("a %s or a function"):format(other))
  end
end

function Check:handler()
  if type(self.def.handler) ~= "function" then
    self:fail("INVALID_HANDLER", "handler", "a function")
  end
end

---@param schema any
---@return string? message
function M.schema_fault(schema)
  if type(schema) ~= "table" then
    return "expected a table, got " .. type(schema)
  elseif schema.type ~= "object" then
    return ('type: expected "object", got %s'):format(vim.inspect(schema.type))
  elseif schema.properties ~= nil and type(schema.properties) ~= "table" then
    return "properties: expected a table, got " .. type(schema.properties)
  end
  local required = schema.required
  if required ~= nil then
    local are_names = type(required) == "table" and vim.islist(required)
    for _, name in ipairs(are_names and required or {}) do
      are_names = are_names and type(name) == "string"
    end
    if not are_names then
      return "required: expected a list of strings"
    end
  end
end

---@type table<string, fun(check: lathe.native.Check)>
local items = {}

function items.tools(check)
  local def = check.def
  check:text("name", "INVALID_NAME", true)
  check:dynamic("description", "string")
  if def.inputSchema ~= nil and type(def.inputSchema) ~= "function" then
    local message = M.schema_fault(def.inputSchema)
    local inner = not message and schema_forms.fault((schema_forms.lift_required(def.inputSchema))) or nil
    if message or inner then
      local fault = M.fault("INVALID_SCHEMA", join(check.path, "inputSchema"), message or inner --[[@as string]])
      fault.is_inner = inner ~= nil
      check.faults[#check.faults + 1] = fault
    end
  end
  check:handler()
  local confirms, timeout = def.needs_confirmation_window, def.timeout
  if confirms ~= nil and type(confirms) ~= "boolean" then
    check:fail("INVALID_DEFINITION", "needs_confirmation_window", "a boolean")
  end
  local is_ms = type(timeout) == "number" and timeout >= 1 and timeout % 1 == 0
  if timeout == false and confirms ~= false then
    check:fail("INVALID_DEFINITION", "timeout", "milliseconds; false needs needs_confirmation_window = false")
  elseif timeout ~= nil and timeout ~= false and not is_ms then
    check:fail("INVALID_DEFINITION", "timeout", "milliseconds or false")
  end
end

function items.resources(check)
  check:text("uri", "INVALID_URI", true)
  for _, key in ipairs({ "name", "mimeType" }) do
    check:text(key, "INVALID_NAME")
  end
  check:dynamic("description", "string")
  check:handler()
end

function items.resourceTemplates(check)
  local template = check.def.uriTemplate
  if type(template) ~= "string" or not template:find("{%+?[%w_%.%-]+}") then
    check:fail("INVALID_URI", "uriTemplate", "a text with at least one {name}")
  end
  for _, key in ipairs({ "name", "mimeType" }) do
    check:text(key, "INVALID_NAME")
  end
  check:dynamic("description", "string")
  check:handler()
end

function items.prompts(check)
  check:text("name", "INVALID_NAME", true)
  check:dynamic("description", "string")
  check:dynamic("arguments", "table")
  check:handler()
end

---What identifies an item of a list in its server.
M.keys = { tools = "name", resources = "uri", resourceTemplates = "uriTemplate", prompts = "name" }

---The lists of a server, in the order in which they are checked.
M.lists = { "tools", "resources", "resourceTemplates", "prompts" }

---Checks a tool, a resource, a template or a prompt.
---@param list "tools"|"resources"|"resourceTemplates"|"prompts"
---@param def any
---@param path string
---@param faults lathe.native.Fault[] what is wrong is added
function M.item(list, def, path, faults)
  if type(def) ~= "table" then
    faults[#faults + 1] = M.fault("INVALID_DEFINITION", path, "expected a table, got " .. type(def))
    return
  end
  items[list](setmetatable({ path = path, def = def, faults = faults }, Check))
end

---Checks a server and everything in it.
---@param name any
---@param def any
---@param path string
---@return lathe.native.Fault[]
function M.server(name, def, path)
  local faults = {}
  if type(name) ~= "string" or not name:find("%S") then
    faults[1] = M.fault("INVALID_NAME", join(path, "name"), "expected a text that is not empty, got " .. type(name))
  end
  if def == nil then
    return faults
  elseif type(def) ~= "table" then
    faults[#faults + 1] = M.fault("INVALID_DEFINITION", path, "expected a table, got " .. type(def))
    return faults
  end
  local check = setmetatable({ path = path, def = def, faults = faults }, Check)
  check:text("displayName", "INVALID_NAME")
  check:dynamic("description", "string")
  local capabilities = def.capabilities
  if capabilities ~= nil and type(capabilities) ~= "table" then
    check:fail("INVALID_DEFINITION", "capabilities", "a table")
    return faults
  end
  for _, list in ipairs(M.lists) do
    local given = capabilities and capabilities[list]
    local where = join(join(path, "capabilities"), list)
    if given ~= nil and (type(given) ~= "table" or not vim.islist(given)) then
      faults[#faults + 1] = M.fault("INVALID_DEFINITION", where, "expected a list")
    elseif given then
      local seen, key = {}, M.keys[list]
      for i, item in ipairs(given) do
        M.item(list, item, join(where, i), faults)
        local id = type(item) == "table" and item[key]
        if id and seen[id] then
          faults[#faults + 1] =
            M.fault("DUPLICATE", join(join(where, i), key), ("%q is there already"):format(tostring(id)))
        end
        seen[id or {}] = true
      end
    end
  end
  return faults
end

return M
