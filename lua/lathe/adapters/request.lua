-- A request to a provider over HTTP, as the core takes it: from an adapter's table, its hooks and its values.
local M = {}

local core = require("lathe.core")
local env = require("lathe.adapters.env")
local provider_tools = require("lathe.adapters.provider_tools")
local readable = require("lathe.readable").text

local CONNECT_MS, FIRST_BYTE_MS, IDLE_MS, RETRIES = 10000, 600000, 120000, 4

-- How long a small document may take to begin.
local FETCH_MS = 30000

---@param value any
---@return boolean
local function is_whole(value)
  return type(value) == "number" and value >= 0 and value % 1 == 0 and value < 2 ^ 53
end

-- What a field must be; a user's table may hold anything. Parents come before what is in them.
local shapes = {
  { "url", "string", is_needed = true },
  { "env", "table" },
  { "headers", "table", items = "string" },
  { "parameters", "table" },
  { "body", "table" },
  { "schema", "table", items = "table" },
  { "dialect", "table" },
  { "models", "table" },
  { "models.url", "string" },
  { "opts", "table" },
  { "opts.proxy", "string" },
  { "opts.retries", "whole" },
  { "opts.limits", "table" },
  { "opts.limits.connect_ms", "whole" },
  { "opts.limits.first_byte_ms", "whole" },
  { "opts.limits.idle_ms", "whole" },
  { "handlers", "table" },
  { "handlers.lifecycle", "table" },
  { "handlers.lifecycle.setup", "function" },
  { "handlers.request", "table" },
  { "handlers.request.prepare", "function" },
  { "handlers.request.build_parameters", "function" },
  { "handlers.request.build_tools", "function" },
}

---The first field that is not what it must be.
---@param adapter lathe.Adapter
---@return string? message
local function misfit(adapter)
  local function wrong(path, wanted, got)
    local text = "adapters.http.%s.%s: expected %s, got %s"
    got = type(got) == "number" and tostring(got) or type(got)
    return text:format(tostring(adapter.name), path, wanted == "whole" and "a whole number from 0" or wanted, got)
  end
  for _, shape in ipairs(shapes) do
    local path, wanted = shape[1], shape[2]
    local value = vim.tbl_get(adapter, unpack(vim.split(path, ".", { plain = true })))
    local fits = type(value) == wanted or (wanted == "whole" and is_whole(value))
    if not fits and (value ~= nil or shape.is_needed) then
      return wrong(path, wanted, value)
    end
    for name, item in pairs(shape.items and value or {}) do
      if type(name) ~= "string" then
        return wrong(path, "names with values", item)
      elseif type(item) ~= shape.items then
        return wrong(path .. "." .. name, shape.items, item)
      end
    end
  end
end

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
    if value == nil and field.required and enabled then
      error(("no %s is chosen: `:Lathe model` lists those there are"):format(name), 0)
    elseif value ~= nil and enabled and mapping[1] == "parameters" then
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
      error("build_parameters must return a table, got " .. type(settings), 0)
    end
  end
  return settings
end

---@param adapter lathe.Adapter
---@return boolean
function M.streams(adapter)
  return not (adapter.opts and adapter.opts.stream == false)
end

---@param what string
---@param value table
---@return string
local function encode(what, value)
  if next(value) == nil then
    return "{}"
  end
  local ok, json = pcall(vim.json.encode, value)
  -- Lua's own text begins with a place in here, which tells the user nothing.
  return ok and json or error(("%s: %s"):format(what, tostring(json):gsub("^.-:%d+: ", "")), 0)
end

---@param adapter lathe.Adapter
---@param model any
---@return boolean
local function takes_pictures(adapter, model)
  local vision = adapter.opts and adapter.opts.vision
  if type(vision) == "function" then
    vision = vision(adapter, model)
  end
  return vision and true or false
end

---How an adapter is reached: fields of `core.start_request` and `core.fetch`.
---@param adapter lathe.Adapter
---@param url string
---@param headers table<string, string>
---@return table
local function transport(adapter, url, headers)
  local opts = adapter.opts or {}
  local limits = opts.limits or {}
  return {
    url = url,
    headers = headers,
    connect_ms = limits.connect_ms or CONNECT_MS,
    first_byte_ms = limits.first_byte_ms or FIRST_BYTE_MS,
    idle_ms = limits.idle_ms or IDLE_MS,
    retries = opts.retries or RETRIES,
    proxy = opts.proxy,
    allow_insecure = opts.allow_insecure == true,
  }
end

---@param adapter lathe.Adapter
---@param values table<string, string>
---@return table<string, string>
local function headers_of(adapter, values)
  local headers = { ["content-type"] = "application/json" }
  for name, template in pairs(adapter.headers or {}) do
    local value = env.fill(template, values)
    -- A server without keys gets no empty one.
    if not (value:find("^%a+ $") or value == "") then
      headers[name] = value
    end
  end
  return headers
end

---The fields of `core.start_request`, but for chat, request and tools.
---@param adapter lathe.Adapter
---@param values table<string, string>
---@param settings table
---@param tools { override: table?, extra: any[]? }
---@return table
local function fields_of(adapter, values, settings, tools)
  local fields = transport(adapter, env.fill(adapter.url, values), headers_of(adapter, values))
  fields.wire = adapter.wire
  fields.settings = encode("parameters", settings)
  fields.tools_override = tools.override and encode("build_tools", tools.override) or nil
  fields.extra_tools = tools.extra and tools.extra[1] ~= nil and encode("available_tools", tools.extra) or nil
  fields.adapter = adapter.name
  fields.model = type(settings.model) == "string" and settings.model or ""
  fields.dialect = adapter.dialect and encode("dialect", adapter.dialect) or nil
  fields.stream = settings.stream == true
  fields.vision = takes_pictures(adapter, settings.model)
  return fields
end

---What the body says of tools besides those that lathe runs.
---@param adapter lathe.Adapter
---@param chat lathe.Chat
---@return { override: table?, extra: any[]? }
local function tools_of(adapter, chat)
  local registry = chat.tool_registry
  local build_tools = hook(adapter, "build_tools")
  if not build_tools then
    local extra, faults = provider_tools.entries(adapter, registry:usable())
    for _, fault in ipairs(faults) do
      chat:notice(fault)
    end
    return { extra = extra }
  end
  registry:offered() -- brings the schemas up to date
  local override = build_tools(adapter, { tools = { vim.deepcopy(registry.schemas) } })
  if override and type(override) ~= "table" then
    error("build_tools must return a table, got " .. type(override), 0)
  end
  return { override = override or nil }
end

---Has the adapter get ready: its `setup`.
---@param adapter lathe.Adapter
---@return string? message why it cannot
local function set_up(adapter)
  local wrong = misfit(adapter)
  if wrong then
    return wrong
  end
  local setup = adapter.handlers and adapter.handlers.lifecycle and adapter.handlers.lifecycle.setup
  if setup then
    local ok, answer = pcall(setup, adapter)
    if not ok or answer == false then
      return ok and "the adapter's setup refused" or "the adapter's setup failed: " .. readable(answer)
    end
  end
end

---Finds the values of templates: those of `handlers.request.prepare`, which may take its time, then those of `env`.
---@param adapter lathe.Adapter
---@param templates string[]
---@param given table<string, string>
---@param waiting lathe.KeyWaiting
---@param done fun(values: table<string, string>?, message: string?)
local function find_values(adapter, templates, given, waiting, done)
  local prepare = hook(adapter, "prepare")
  if not prepare then
    return env.resolve(adapter, templates, given, waiting, done)
  end
  local is_over = false
  local function go_on(values, message)
    if is_over then
      return
    end
    is_over = true
    if type(values) ~= "table" then
      return done(nil, message or "the adapter's prepare gave no values")
    end
    env.resolve(adapter, templates, vim.tbl_extend("force", given, values), waiting, done)
  end
  local ok, err = pcall(prepare, adapter, go_on)
  if not ok then
    go_on(nil, "the adapter's prepare failed: " .. readable(err))
  end
end

---Makes the request. `done` may be called later: a key may come from a command.
---@param adapter lathe.Adapter
---@param chat lathe.Chat
---@param waiting lathe.KeyWaiting
---@param done fun(fields: table?, fault: string|lathe.Fault|nil)
function M.build(adapter, chat, waiting, done)
  local wrong = set_up(adapter)
  if wrong then
    return done(nil, wrong)
  end
  -- Before the headers are looked at: a provider's tool may need one of its own.
  local can_build, tools = pcall(tools_of, adapter, chat)
  if not can_build then
    return done(nil, "the adapter failed: " .. readable(tools))
  end
  wrong = misfit(adapter)
  if wrong then
    return done(nil, wrong)
  end
  local has_settings, settings = pcall(settings_of, adapter)
  if not has_settings then
    return done(nil, "the adapter failed: " .. readable(settings))
  end
  local templates = vim.list_extend({ adapter.url }, vim.tbl_values(adapter.headers or {}))
  local given = { model = type(settings.model) == "string" and settings.model or nil }
  find_values(adapter, templates, given, waiting, function(values, message)
    if not values then
      return done(nil, message)
    end
    local ok, fields = pcall(fields_of, adapter, values, settings, tools)
    if ok then
      done(fields)
    else
      done(nil, "the adapter failed: " .. readable(fields))
    end
  end)
end

---Gets a JSON document.
---@param adapter lathe.Adapter whose limits and proxy count
---@param url string
---@param headers table<string, string>
---@param done fun(document: table?, message: string?)
function M.fetch(adapter, url, headers, done)
  local lib, why = core.load()
  if not lib then
    return done(nil, why)
  end
  local fields = transport(adapter, url, headers)
  fields.first_byte_ms = math.min(fields.first_byte_ms, FETCH_MS)
  fields.retries = math.min(fields.retries, 1)
  local ok, err = pcall(core.ask, "fetch", fields, function(text, message)
    if not text then
      return done(nil, message)
    end
    local is_json, document = pcall(vim.json.decode, text)
    if is_json and type(document) == "table" then
      done(document)
    else
      done(nil, "the server's answer is not JSON")
    end
  end)
  if not ok then
    done(nil, readable(err))
  end
end

---The names of the models that the provider offers, sorted.
---@param adapter lathe.Adapter
---@param waiting lathe.KeyWaiting
---@param done fun(names: string[]?, message: string?)
function M.models(adapter, waiting, done)
  local models = adapter.models
  if type(models) ~= "table" or type(models.url) ~= "string" then
    return done(nil, "there is no list of models; name one: `:Lathe model <name>`")
  end
  local wrong = set_up(adapter)
  if wrong then
    return done(nil, wrong)
  end
  local templates = vim.list_extend({ models.url }, vim.tbl_values(adapter.headers or {}))
  find_values(adapter, templates, {}, waiting, function(values, fault)
    if not values then
      return done(nil, fault and tostring(fault))
    end
    local filled, url = pcall(env.fill, models.url, values)
    local has_headers, headers = pcall(headers_of, adapter, values)
    if not (filled and has_headers) then
      return done(nil, "the adapter failed")
    end
    M.fetch(adapter, url, headers, function(document, why)
      if not document then
        return done(nil, why)
      end
      local names, prefix = {}, models.prefix or ""
      local list = document[models.list or "data"]
      for _, entry in ipairs(type(list) == "table" and list or {}) do
        local name = type(entry) == "table" and entry[models.id or "id"]
        if type(name) == "string" then
          names[#names + 1] = vim.startswith(name, prefix) and name:sub(#prefix + 1) or name
        end
      end
      table.sort(names)
      if names[1] then
        done(names)
      else
        done(nil, "the provider lists no models")
      end
    end)
  end)
end

return M
