-- A request to a provider over HTTP, as the core takes it: from an adapter's table, its hooks and its values.
local M = {}

local env = require("lathe.adapters.env")

local CONNECT_MS, FIRST_BYTE_MS, IDLE_MS, RETRIES = 10000, 600000, 120000, 4

---@param adapter lathe.Adapter
---@param name string
---@return any
local function hook(adapter, name)
  local request = adapter.handlers and adapter.handlers.request
  return type(request) == "table" and request[name] or nil
end

---Sets `table.a.b = value` for the path `{ "a", "b" }`.
---@param target table
---@param path string[]
---@param value any
local function set_at(target, path, value)
  for i = 1, #path - 1 do
    target[path[i]] = target[path[i]] or {}
    target = target[path[i]]
  end
  target[path[#path]] = value
end

---The fields of the body besides messages and tools.
---@param adapter lathe.Adapter
---@return table
local function settings_of(adapter)
  local settings = vim.deepcopy(adapter.parameters or {})
  for name, field in pairs(adapter.schema or {}) do
    local value = field.default
    if name == "model" and adapter.model then
      value = adapter.model
    elseif type(value) == "function" then
      value = value(adapter)
    end
    local mapping = type(field.mapping) == "string" and vim.split(field.mapping, ".", { plain = true }) or {}
    local enabled = field.enabled == nil or (type(field.enabled) ~= "function" and field.enabled)
    if type(field.enabled) == "function" then
      enabled = field.enabled(adapter)
    end
    if value ~= nil and enabled and mapping[1] == "parameters" then
      local path = vim.list_slice(mapping, 2)
      path[#path + 1] = name
      set_at(settings, path, value)
    end
  end
  if settings.model == nil and adapter.model then
    settings.model = adapter.model
  end
  settings = vim.tbl_deep_extend("force", settings, adapter.body or {})
  if settings.stream == nil then
    settings.stream = M.streams(adapter)
  end
  local build = hook(adapter, "build_parameters")
  if build then
    settings = build(adapter, settings) or settings
    if type(settings) ~= "table" then
      error("handlers.request.build_parameters: expected a table, got " .. type(settings), 0)
    end
  end
  return settings
end

---@param adapter lathe.Adapter
---@return boolean
function M.streams(adapter)
  return not (adapter.opts and adapter.opts.stream == false)
end

---@param value table
---@return string
local function encode(value)
  return next(value) == nil and "{}" or vim.json.encode(value)
end

---The fields of `core.start_request`, but for chat, request and tools. Hooks run here, on the main loop.
---@param adapter lathe.Adapter
---@param chat lathe.Chat
---@param values table<string, string>
---@return table
local function fields_of(adapter, chat, values)
  local headers = { ["content-type"] = "application/json" }
  for name, template in pairs(adapter.headers or {}) do
    local value = env.fill(template, values)
    -- A server without keys gets no empty one.
    if not (value:find("^%a+ $") or value == "") then
      headers[name] = value
    end
  end
  local settings = settings_of(adapter)
  local build_tools = hook(adapter, "build_tools")
  local tools = build_tools and build_tools(adapter, { tools = { chat.tool_registry.schemas } })
  local limits = (adapter.opts or {}).limits or {}
  return {
    wire = adapter.wire,
    url = env.fill(adapter.url, values),
    headers = headers,
    settings = encode(settings),
    tools_override = tools and vim.json.encode(tools) or nil,
    stream = settings.stream == true,
    connect_ms = limits.connect_ms or CONNECT_MS,
    first_byte_ms = limits.first_byte_ms or FIRST_BYTE_MS,
    idle_ms = limits.idle_ms or IDLE_MS,
    retries = (adapter.opts or {}).retries or RETRIES,
    proxy = (adapter.opts or {}).proxy,
    allow_insecure = (adapter.opts or {}).allow_insecure == true,
  }
end

---Makes the request. `done` may be called later: a key may come from a command.
---@param adapter lathe.Adapter
---@param chat lathe.Chat
---@param done fun(fields: table?, message: string?)
function M.build(adapter, chat, done)
  if type(adapter.url) ~= "string" then
    return done(nil, ("adapters.http.%s.url: expected a string, got %s"):format(adapter.name, type(adapter.url)))
  end
  local setup = adapter.handlers and adapter.handlers.lifecycle and adapter.handlers.lifecycle.setup
  if setup then
    local ok, answer = pcall(setup, adapter)
    if not ok then
      return done(nil, "the adapter's setup failed: " .. require("lathe.tools").readable(answer))
    elseif answer == false then
      return done(nil, "the adapter's setup refused")
    end
  end
  local templates = vim.list_extend({ adapter.url }, vim.tbl_values(adapter.headers or {}))
  env.resolve(adapter, templates, function(values, message)
    if not values then
      return done(nil, message)
    end
    local ok, fields = pcall(fields_of, adapter, chat, values)
    if ok then
      done(fields)
    else
      done(nil, "the adapter failed: " .. require("lathe.tools").readable(fields))
    end
  end)
end

return M
