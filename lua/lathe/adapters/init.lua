-- Adapters: how a provider's table is found and extended, and what a request needs of it. Each shipped one is a file
-- beside this.
local M = {}

local config = require("lathe.config")

local HOW = "no adapter is configured: add one to adapters.http in setup(), see `:help lathe-adapters`"

local registered = {} ---@type table<string, lathe.Adapter>

---Makes an adapter known, as if it were in `adapters.http`.
---@param name string
---@param adapter lathe.Adapter
function M.register(name, adapter)
  registered[name] = adapter
end

---What the user has configured under a name.
---@param name string
---@return lathe.Adapter|string|function|nil
local function configured(name)
  local found = registered[name] or config.get().adapters.http[name]
  return found ~= name and found or nil -- `name = "name"` is the shipped one
end

---@param name string
---@return lathe.Adapter?
local function shipped(name)
  if name:find("^[%w_]+$") and name ~= "init" then
    local ok, adapter = pcall(require, "lathe.adapters." .. name)
    if ok and type(adapter) == "table" and adapter.wire then
      return adapter
    end
  end
end

---@param source any
---@return lathe.Adapter? adapter
---@return string? message
local function find(source)
  local seen = 0
  while type(source) == "string" or type(source) == "function" do
    seen = seen + 1
    if seen > 10 then
      return nil, "adapters.http: names that lead to each other"
    end
    if type(source) == "function" then
      local ok, result = pcall(source)
      if not ok then
        return nil, "an adapter failed: " .. (type(result) == "string" and result or vim.inspect(result))
      end
      source = result
    else
      local found = configured(source) or shipped(source)
      if not found then
        return nil, ('there is no adapter "%s"; known: %s'):format(source, table.concat(M.names(), ", "))
      end
      source = found
    end
  end
  if type(source) ~= "table" then
    return nil, "an adapter must be a table, got " .. type(source)
  end
  return source
end

---The names that the user has configured, sorted.
---@return string[]
local function configured_names()
  local names = vim.tbl_keys(vim.tbl_extend("force", config.get().adapters.http, registered))
  table.sort(names)
  return names
end

---The names of all adapters, sorted.
---@return string[]
function M.names()
  local names = configured_names()
  if not vim.list_contains(names, "scripted") then
    names[#names + 1] = "scripted"
  end
  table.sort(names)
  return names
end

---A copy of an adapter with other values.
---@param base string|lathe.Adapter|fun(): lathe.Adapter
---@param changes table?
---@return lathe.Adapter
function M.extend(base, changes)
  local source = type(base) == "string" and shipped(base) or base
  local adapter, message = find(source)
  if not adapter then
    error("lathe: " .. message, 2)
  end
  return vim.tbl_deep_extend("force", {}, adapter, changes or {})
end

---The adapter of a new chat: a copy of its own, since an adapter may keep state.
---@param spec string|table|function|nil a name, `{ name, model }`, or an adapter
---@param model string?
---@return lathe.Adapter? adapter
---@return string? message how to configure one
function M.resolve(spec, model)
  if spec == nil then
    spec = configured_names()[1]
    if not spec then
      return nil, HOW
    end
  end
  if type(spec) == "table" and not spec.wire and type(spec.name) == "string" then
    spec, model = spec.name, model or spec.model
  end
  local found, message = find(spec)
  if not found then
    return nil, message
  end
  local adapter = {}
  for key, value in pairs(found) do
    adapter[key] = value
  end
  if not adapter.wire then
    return nil, "an adapter without a wire format (`wire`)"
  end
  adapter.name = adapter.name or (type(spec) == "string" and spec) or adapter.wire
  adapter.formatted_name = adapter.formatted_name or adapter.name
  adapter.model = model or adapter.model
  return adapter
end

---What a request needs: fields of `core.start_request`.
---@param adapter lathe.Adapter
---@param messages lathe.Message[]
---@return table? fields
---@return string? message why there is no request
function M.request(adapter, messages)
  local handlers = adapter.handlers and adapter.handlers.request
  if not handlers or not handlers.build then
    return nil, ('wire format "%s" is not known'):format(tostring(adapter.wire))
  end
  return handlers.build(adapter, messages)
end

return M
