-- What lists.rs runs in its editor.
-- luacheck: globals adapter before facts found

local M = {}

local adapters = require("lathe.adapters")

---@param names string[]?
---@param message string?
local function keep(names, message)
  found = table.concat(names or { message }, " ")
end

---@param url string
---@param chat_url string
function M.beside(url, chat_url)
  local here = adapters.extend("openai_compatible", { env = { url = url, chat_url = chat_url } })
  require("lathe").setup({ adapters = { http = { here = here } } })
  adapters.models("here", keep)
end

---@param secret string
function M.by_command(secret)
  local groq = require("lathe.config").get().adapters.http.groq
  adapters.models(adapters.extend(groq, { env = { api_key = "cmd:echo " .. secret } }), keep)
end

---@param url string
function M.told(url)
  adapter = assert(adapters.resolve(adapters.extend("openrouter", { env = { url = url } })))
  before = adapters.facts(adapter, "big")
  adapters.models(adapter, function(names)
    found = names
  end)
  function facts(model)
    return vim.json.encode(adapters.facts(adapter, model))
  end
end

function M.check_defaults()
  local model_facts = require("lathe.adapters.model_facts")
  assert(model_facts.date:find("^%d%d%d%d%-%d%d%-%d%d$"))
  for _, name in ipairs(adapters.names()) do
    local default = vim.tbl_get(assert(adapters.resolve(name)), "schema", "model", "default")
    local own = name == "openai_responses" and model_facts.defaults.openai or model_facts.defaults[name]
    assert(default == own, name)
  end
end

---@param token_url string
function M.copilot(token_url)
  adapters.models(adapters.extend("copilot", { env = { token_url = token_url } }), keep)
end

return M
