-- A request to a provider over HTTP, as the core takes it: from an adapter's table, its hooks and its values.
local M = {}

local check = require("lathe.adapters.check")
local env = require("lathe.adapters.env")
local provider_tools = require("lathe.adapters.provider_tools")
local readable = require("lathe.readable").text
local transport = require("lathe.adapters.transport")

local hook = transport.hook

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
    -- A function names the whole place: a setting may be called otherwise on another wire.
    local mapping, is_whole = field.mapping, type(field.mapping) == "function"
    mapping = is_whole and mapping(adapter) or mapping
    mapping = type(mapping) == "string" and vim.split(mapping, ".", { plain = true }) or {}
    local enabled = field.enabled == nil or (type(field.enabled) ~= "function" and field.enabled)
    if type(field.enabled) == "function" then
      enabled = field.enabled(adapter)
    end
    if value == nil and field.required and enabled then
      error(("no %s is chosen: `:Lathe model` lists those there are"):format(name), 0)
    elseif value ~= nil and enabled and mapping[1] == "parameters" then
      local path = vim.list_slice(mapping, 2)
      path[#path + 1] = not is_whole and name or nil
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

---The fields of `core.start_request`, but for chat, request and tools.
---@param adapter lathe.Adapter
---@param values table<string, string>
---@param settings table
---@param url string a template
---@param tools { override: table?, extra: any[]? }
---@return table
local function fields_of(adapter, values, settings, url, tools)
  local model = type(settings.model) == "string" and settings.model or ""
  local dialect = transport.by_model(adapter, "dialect", model)
  local fields = transport.fields(adapter, env.fill(url, values), transport.headers(adapter, values))
  fields.wire = transport.by_model(adapter, "wire", model)
  fields.settings = encode("parameters", settings)
  fields.tools_override = tools.override and encode("build_tools", tools.override) or nil
  fields.extra_tools = tools.extra and tools.extra[1] ~= nil and encode("available_tools", tools.extra) or nil
  fields.adapter = adapter.name
  fields.model = model
  fields.dialect = dialect and encode("dialect", dialect) or nil
  local with = adapter.headers_with or {}
  fields.picture_headers, fields.result_headers = with.pictures or {}, with.results or {}
  fields.prompt_headers = with.prompt or {}
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

---Makes the request. `done` may be called later: a key may come from a command.
---@param adapter lathe.Adapter
---@param chat lathe.Chat
---@param waiting lathe.KeyWaiting
---@param done fun(fields: table?, fault: string|lathe.Fault|nil)
function M.build(adapter, chat, waiting, done)
  local wrong = transport.set_up(adapter)
  if wrong then
    return done(nil, wrong)
  end
  -- Before the headers are looked at: a provider's tool may need one of its own.
  local can_build, tools = pcall(tools_of, adapter, chat)
  if not can_build then
    return done(nil, "the adapter failed: " .. readable(tools))
  end
  wrong = check.misfit(adapter)
  if wrong then
    return done(nil, wrong)
  end
  local settings, url ---@type table, string
  local function fill(values, message)
    if not values then
      return done(nil, message)
    end
    local ok, fields = pcall(fields_of, adapter, values, settings, url, tools)
    if ok then
      done(fields)
    else
      done(nil, "the adapter failed: " .. readable(fields))
    end
  end
  -- What it prepares may decide about the rest: a provider tells which model is reached where.
  transport.prepare(adapter, waiting, function(given, message)
    if not given then
      return done(nil, message)
    end
    local ok, made = pcall(settings_of, adapter)
    if not ok then
      return done(nil, "the adapter failed: " .. readable(made))
    end
    settings = made
    local model = type(settings.model) == "string" and settings.model or nil
    local has_url, found = pcall(transport.by_model, adapter, "url", model)
    if not has_url or type(found) ~= "string" then
      return done(nil, "the adapter failed: " .. (has_url and "url gave " .. type(found) or readable(found)))
    end
    url = found
    local templates = vim.list_extend({ url }, vim.tbl_values(adapter.headers or {}))
    env.resolve(adapter, templates, vim.tbl_extend("force", { model = model }, given), waiting, fill)
  end)
end

return M
