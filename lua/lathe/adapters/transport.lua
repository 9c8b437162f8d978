-- How a provider is reached: the values of an adapter's templates, headers and limits, and small documents from it.
local M = {}

local check = require("lathe.adapters.check")
local core = require("lathe.core")
local env = require("lathe.adapters.env")
local readable = require("lathe.readable").text

local CONNECT_MS, FIRST_BYTE_MS, IDLE_MS, RETRIES = 10000, 600000, 120000, 4

-- How long a small document may take to begin.
local FETCH_MS = 30000

---@param adapter lathe.Adapter
---@param name string
---@return any
function M.hook(adapter, name)
  local request = adapter.handlers and adapter.handlers.request
  return type(request) == "table" and request[name] or nil
end

---A field that may depend on the model.
---@param adapter lathe.Adapter
---@param field "wire"|"url"|"dialect"
---@param model string?
---@return any
function M.by_model(adapter, field, model)
  local value = adapter[field]
  if type(value) == "function" then
    value = value(adapter, model)
  end
  return value
end

---How an adapter is reached: fields of `core.start_request` and `core.fetch`.
---@param adapter lathe.Adapter
---@param url string
---@param headers table<string, string>
---@return table
function M.fields(adapter, url, headers)
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
function M.headers(adapter, values)
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

---Has the adapter get ready: its `setup`.
---@param adapter lathe.Adapter
---@return string? message why it cannot
function M.set_up(adapter)
  local wrong = check.misfit(adapter)
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

---The values of `handlers.request.prepare`, which may take its time.
---@param adapter lathe.Adapter
---@param waiting lathe.KeyWaiting
---@param done fun(values: table<string, string>?, fault: string|lathe.Fault|nil)
function M.prepare(adapter, waiting, done)
  local prepare = M.hook(adapter, "prepare")
  if not prepare then
    return done({})
  end
  local is_over = false
  local function go_on(values, message)
    if not is_over then
      is_over = true
      done(type(values) == "table" and values or nil, message or "the adapter's prepare gave no values")
    end
  end
  local ok, err = pcall(prepare, adapter, go_on, waiting)
  if not ok then
    go_on(nil, "the adapter's prepare failed: " .. readable(err))
  end
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
  local fields = M.fields(adapter, url, headers)
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

return M
