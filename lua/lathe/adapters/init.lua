-- Adapters: how a provider's table is found and extended, and what a request needs of it. Each shipped one is a file
-- beside this.
local M = {}

local config = require("lathe.config")
local keys = require("lathe.adapters.keys")
local readable = require("lathe.readable").text

local HOW = "no adapter has a key: set %s, or add one to adapters.http (`:help lathe-adapters`)"

local registered = {} ---@type table<string, lathe.Adapter>

---@class lathe.KnownKeys
---@field config lathe.Config what they were collected from
---@field runtimepath string
---@field names table<string, true>

local known_keys ---@type lathe.KnownKeys?

---Who waits for the values of an adapter, and what a command that finds one does not see.
---@class lathe.KeyWaiting
---@field chat integer
---@field request integer? of the chat
---@field judged integer? the call that the judge is asked about
---@field without fun(): string[]
---@field keep string[]

-- Adapters of chats, each with whether the user has configured it.
local in_use = setmetatable({}, { __mode = "k" }) ---@type table<lathe.Adapter, boolean>

---Makes an adapter known, as if it were in `adapters.http`.
---@param name string
---@param adapter lathe.Adapter
function M.register(name, adapter)
  registered[name] = adapter
  known_keys = nil
end

---What the user has configured under a name.
---@param name string
---@return lathe.Adapter|string|function|nil
local function configured(name)
  local found = registered[name] or config.get().adapters.http[name]
  return found ~= name and found or nil -- `name = "name"` is the shipped one
end

-- Files here that are no adapters.
local is_part = {
  init = true,
  check = true,
  claude_models = true,
  copilot_sign_in = true,
  env = true,
  gemini_models = true,
  keys = true,
  model_facts = true,
  model_list = true,
  provider_tools = true,
  reasoning_models = true,
  request = true,
  transport = true,
}

---@param name string
---@return lathe.Adapter?
local function shipped(name)
  if name:find("^[%w_]+$") and not is_part[name] then
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
        return nil, "an adapter failed: " .. readable(result)
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

---A variable that an adapter names and that is not set. Other kinds of values are found at first use.
---@param adapter lathe.Adapter
---@return string? variable
function M.missing_key(adapter)
  for _, value in pairs(type(adapter.env) == "table" and adapter.env or {}) do
    if type(value) == "string" and value:find("^[A-Z0-9_]+$") and (vim.env[value] or "") == "" then
      return value
    end
  end
end

---The names of those that come with the plugin, sorted.
---@return string[]
local function shipped_names()
  local names = {}
  for _, path in ipairs(vim.api.nvim_get_runtime_file("lua/lathe/adapters/*.lua", true)) do
    local name = vim.fs.basename(path):gsub("%.lua$", "")
    if not is_part[name] and not vim.list_contains(names, name) then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

---The variable that holds an adapter's key.
---@param adapter lathe.Adapter?
---@return string?
local function key_variable(adapter)
  for _, value in pairs(adapter and type(adapter.env) == "table" and adapter.env or {}) do
    if type(value) == "string" and value:find("^[A-Z0-9_]+_KEY$") then
      return value
    end
  end
end

---The adapter of a chat that names none: the first configured one whose key is present, else the first shipped one.
---@return string? name
---@return string? message which keys would do
local function first_usable()
  for _, name in ipairs(configured_names()) do
    local adapter = find(name)
    if adapter and not M.missing_key(adapter) then
      return name -- also one that does not fit: the user is told what is wrong with it
    end
  end
  local variables = {}
  for _, name in ipairs(shipped_names()) do
    local adapter = shipped(name)
    local variable = key_variable(adapter)
    if adapter and variable then
      if not M.missing_key(adapter) then
        return name
      elseif not vim.list_contains(variables, variable) then
        variables[#variables + 1] = variable
      end
    end
  end
  return nil, HOW:format(table.concat(variables, ", "):gsub(", ([^,]+)$", " or %1"))
end

---The names of all adapters, sorted.
---@return string[]
function M.names()
  local names = configured_names()
  for _, name in ipairs(shipped_names()) do
    if not vim.list_contains(names, name) then
      names[#names + 1] = name
    end
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

-- What hooks may change in the chat's copy without changing the adapter of other chats. Not `turns` and fields of the
-- author's: they may hold anything.
local copied = { "env", "headers", "parameters", "body", "schema", "opts", "dialect", "models", "available_tools" }

---The adapter of a new chat: a copy of its own, since an adapter may keep state.
---@param spec string|table|function|nil a name, `{ name, model }`, or an adapter
---@param model string?
---@return lathe.Adapter? adapter
---@return string? message how to configure one
function M.resolve(spec, model)
  if spec == nil then
    local how
    spec, how = first_usable()
    if not spec then
      return nil, how
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
  -- The name under which the user finds it in the configuration.
  local given = type(adapter.name) == "string" and adapter.name or tostring(adapter.wire)
  adapter.name = type(spec) == "string" and spec or given
  adapter.formatted_name = type(adapter.formatted_name) == "string" and adapter.formatted_name or adapter.name
  adapter.model = model or adapter.model
  for _, field in ipairs(copied) do
    local ok, copy = pcall(vim.deepcopy, adapter[field])
    adapter[field] = ok and copy or adapter[field] -- one that holds userdata stays shared
  end
  in_use[adapter] = type(spec) ~= "string" or configured(spec) ~= nil
  known_keys = nil
  return adapter
end

---@param adapter lathe.Adapter
---@param chat lathe.Chat? nil: no chat asks
---@return lathe.KeyWaiting
local function waiting_for(adapter, chat)
  local keep = config.get().interactions.chat.tools.opts.keep_env
  return {
    chat = chat and chat.id or 0,
    without = function()
      return M.key_variables(adapter, keep)
    end,
    keep = keep,
  }
end

---The history behind its system messages.
---@param system string[]
---@param messages lathe.Message[]
---@return lathe.Message[]
local function whole(system, messages)
  if not system[1] then
    return messages
  end
  local list = {}
  for i, content in ipairs(system) do
    list[i] = { role = "system", content = content, opts = { visible = false }, _meta = {} }
  end
  return vim.list_extend(list, messages)
end

---What a request needs: fields of `core.start_request`. An adapter's own `build` makes them at once, else they are made
---for HTTP, and `done` may be called later.
---@param adapter lathe.Adapter
---@param chat lathe.Chat
---@param system string[] system messages of this request
---@param done fun(fields: table?, message: string?)
function M.request(adapter, chat, system, done)
  local build = type(adapter.handlers) == "table" and vim.tbl_get(adapter.handlers, "request", "build")
  if build then
    local ok, fields, message = pcall(build, adapter, whole(system, chat.messages))
    if not ok or (fields ~= nil and type(fields) ~= "table") then
      local why = ok and "expected a table, got " .. type(fields) or readable(fields)
      return done(nil, "handlers.request.build failed: " .. why)
    end
    return done(fields, message or "handlers.request.build gave nothing to send")
  end
  local waiting = waiting_for(adapter, chat)
  waiting.request, waiting.judged = chat.request, chat.judged
  require("lathe.adapters.request").build(adapter, chat, waiting, done)
end

---The names of the models that the provider of an adapter offers, sorted.
---@param adapter lathe.Adapter|string|nil default: the one that a chat would take
---@param chat lathe.Chat? that asks
---@param done fun(names: string[]?, message: string?)
---@overload fun(adapter: lathe.Adapter|string|nil, done: fun(names: string[]?, message: string?))
function M.models(adapter, chat, done)
  if type(chat) == "function" then
    chat, done = nil, chat
  end
  if type(adapter) ~= "table" or not in_use[adapter] then
    local found, message = M.resolve(adapter or config.get().interactions.chat.adapter)
    if not found then
      return done(nil, message)
    end
    adapter = found
  end
  require("lathe.adapters.model_list").fetch(adapter, waiting_for(adapter, chat), done)
end

---What is known of a model: how much it reads and writes, whether it takes pictures, what it costs. More is known once
---the provider's list was read.
---@param adapter lathe.Adapter
---@param model string? default: the adapter's own
---@return lathe.ModelFacts
function M.facts(adapter, model)
  return require("lathe.adapters.model_list").facts(adapter, model)
end

---The variables of shipped and configured adapters, and of those in use. Kept while nothing changes: an adapter may be
---a function of the user's that takes its time, and every command asks. One that failed is asked again.
---@return table<string, true>
local function all_keys()
  local current = config.get()
  local known = known_keys
  if known and known.config == current and known.runtimepath == vim.o.runtimepath then
    return known.names
  end
  local names, all_found = {}, true
  local function add(adapter, is_configured)
    keys.collect(adapter, is_configured, names)
    if is_configured then
      keys.conceal(adapter)
    end
  end
  for _, name in ipairs(shipped_names()) do
    add(shipped(name), false)
  end
  for _, name in ipairs(configured_names()) do
    local adapter = find(name)
    all_found = all_found and adapter ~= nil
    add(adapter, true)
  end
  for adapter, is_configured in pairs(in_use) do
    add(adapter, is_configured)
  end
  add(current.interactions.chat.adapter, true)
  add(current.interactions.background.gates.judge.adapter, true)
  known_keys = all_found and { config = current, runtimepath = vim.o.runtimepath, names = names } or nil
  return names
end

---The environment variables that shipped and configured adapters name, used or not, and the chat's own: commands do not
---see them.
---@param own lathe.Adapter? hooks may have changed it
---@param keep string[] those that stay
---@return string[]
function M.key_variables(own, keep)
  local names = vim.tbl_extend("force", {}, all_keys())
  keys.collect(own, true, names)
  for _, name in ipairs(keep) do
    names[name] = nil
  end
  return vim.tbl_keys(names)
end

return M
