-- The models that a provider offers: their names, and what its list tells of them.
local M = {}

local env = require("lathe.adapters.env")
local facts = require("lathe.adapters.model_facts")
local readable = require("lathe.readable").text
local transport = require("lathe.adapters.transport")

-- Where lists tell what, the first that is there counts. A list of one's own in `models` comes before them.
local places = {
  context = {
    "context_length",
    "context_window",
    "max_context_length",
    "max_model_len",
    "context_size",
    "max_input_tokens",
    "inputTokenLimit",
    "top_provider.context_length",
    "capabilities.limits.max_context_window_tokens",
    "metadata.context_length",
    "meta.n_ctx_train",
  },
  output = {
    "max_completion_tokens",
    "max_output_tokens",
    "max_tokens",
    "outputTokenLimit",
    "top_provider.max_completion_tokens",
    "capabilities.limits.max_output_tokens",
    "metadata.max_tokens",
  },
  pictures = {
    "supports_image_in",
    "capabilities.vision",
    "capabilities.supports.vision",
    "capabilities.image_input.supported",
  },
}

---@param entry table
---@param path string
---@return any
local function at(entry, path)
  local value = entry ---@type any
  for part in path:gmatch("[^.]+") do
    if type(value) ~= "table" then
      return nil
    end
    value = value[part]
  end
  if value == vim.NIL then
    return nil
  end
  return value
end

---@param entry table
---@param fact "context"|"output"|"pictures"
---@param wanted type
---@return any
local function told(entry, fact, wanted)
  for _, path in ipairs(places[fact]) do
    local value = at(entry, path)
    if type(value) == wanted then
      return value
    end
  end
end

---Prices for one token become those for a million.
---@param entry table
---@return { input: number, output: number }?
local function price_of(entry)
  local input, output = tonumber(at(entry, "pricing.prompt")), tonumber(at(entry, "pricing.completion"))
  local factor = 1e6
  if not (input and output) then
    input, output, factor = at(entry, "metadata.pricing.input_tokens"), at(entry, "metadata.pricing.output_tokens"), 1
  end
  if type(input) == "number" and type(output) == "number" and input >= 0 and output >= 0 then
    return { input = input * factor, output = output * factor }
  end
end

---What an entry of a list tells.
---@param entry table
---@return lathe.ModelFacts
local function facts_of(entry)
  local pictures = told(entry, "pictures", "boolean")
  local inputs = at(entry, "architecture.input_modalities") or at(entry, "input_modalities")
  if pictures == nil and type(inputs) == "table" then
    pictures = vim.list_contains(inputs, "image")
  end
  local price = price_of(entry)
  return {
    context = told(entry, "context", "number"),
    output = told(entry, "output", "number"),
    pictures = pictures,
    price = price,
    price_class = facts.price_class(price),
  }
end

-- What the lists told, by adapter's name and address, and by model.
local seen = {} ---@type table<string, table<string, lathe.ModelFacts>>

---@param adapter lathe.Adapter
---@return string
local function key_of(adapter)
  return tostring(adapter.name)
end

---What is known of a model: by its provider's list, when that was read, else by `model_facts.lua`.
---@param adapter lathe.Adapter
---@param model string? default: the adapter's own
---@return lathe.ModelFacts
function M.facts(adapter, model)
  model = model or adapter.model or vim.tbl_get(adapter, "schema", "model", "default")
  if type(model) ~= "string" then
    return {}
  end
  local list = seen[key_of(adapter)] or {}
  return vim.tbl_extend("force", facts.of(model), list[model] or {})
end

---Reads the entries of a list.
---@param adapter lathe.Adapter
---@param document table
---@return string[] names sorted
function M.read(adapter, document)
  local models = adapter.models --[[@as lathe.AdapterModels]]
  local names, prefix, known = {}, models.prefix or "", {}
  -- Some servers give the list alone.
  local list = document[models.list or "data"] or (vim.islist(document) and document) or {}
  for _, entry in ipairs(type(list) == "table" and list or {}) do
    local name = type(entry) == "table" and entry[models.id or "id"]
    if type(name) == "string" and (not models.takes or models.takes(entry)) then
      name = vim.startswith(name, prefix) and name:sub(#prefix + 1) or name
      names[#names + 1] = name
      known[name] = facts_of(entry)
    end
  end
  seen[key_of(adapter)] = known
  table.sort(names)
  return names
end

---The address of a list that stands beside another one: that of the chat without its last parts.
---@param url string
---@return string
local function beside(url)
  local root, count = url:gsub("/chat/completions/?$", "")
  if count == 0 then
    root = url:gsub("/[^/]*/?$", "")
  end
  return root .. "/models"
end

---The names of the models that the provider offers, sorted.
---@param adapter lathe.Adapter
---@param waiting lathe.KeyWaiting
---@param done fun(names: string[]?, message: string?)
function M.fetch(adapter, waiting, done)
  local models = adapter.models
  if type(models) ~= "table" or type(models.url) ~= "string" then
    return done(nil, "there is no list of models; name one: `:Lathe model <name>`")
  end
  local wrong = transport.set_up(adapter)
  if wrong then
    return done(nil, wrong)
  end
  local templates = vim.list_extend({ models.url }, vim.tbl_values(adapter.headers or {}))
  local function go_on(values, fault)
    if not values then
      return done(nil, fault and tostring(fault))
    end
    local filled, url = pcall(env.fill, models.url, values)
    local has_headers, headers = pcall(transport.headers, adapter, values)
    if not (filled and has_headers) then
      return done(nil, "the adapter failed")
    end
    transport.fetch(adapter, models.beside and beside(url) or url, headers, function(document, why)
      if not document then
        return done(nil, why)
      end
      local ok, names = pcall(M.read, adapter, document)
      if not ok then
        done(nil, "the adapter failed: " .. readable(names))
      elseif names[1] then
        done(names)
      else
        done(nil, "the provider lists no models")
      end
    end)
  end
  transport.prepare(adapter, waiting, function(given, fault)
    if not given then
      return go_on(nil, fault)
    end
    env.resolve(adapter, templates, given, waiting, go_on)
  end)
end

return M
