-- GitHub Copilot: the sign-in that its own programs keep is exchanged for a token of half an hour. Its list of models tells
-- where each is reached.

local claude = require("lathe.adapters.claude_models")
local facts = require("lathe.adapters.model_facts")
local model_list = require("lathe.adapters.model_list")
local reasoning = require("lathe.adapters.reasoning_models")
local sign_in = require("lathe.adapters.copilot_sign_in")
local transport = require("lathe.adapters.transport")

-- Renewed when so little is left.
local MARGIN_S = 60

-- How long a list of models is good.
local LIST_S = 3600

---@type table<string, { token: string, url: string, ends: integer }> by the sign-in
local tokens = {}

---@type table<string, { endpoints: table<string, string[]>, entries: table<string, table>, ends: integer }> by address
local lists = {}

-- By the adapter (a chat's own copy): the list that holds for it.
local list_of = setmetatable({}, { __mode = "k" })

---@type { [1]: string, [2]: string }[] where a model may be reached, and the wire there, the best first
local ways = {
  { "/v1/messages", "anthropic" },
  { "/responses", "openai_responses" },
  { "/chat/completions", "openai" },
}

---How a model is reached.
---@param self lathe.Adapter
---@return string endpoint
---@return string wire
local function way(self)
  local list = list_of[self]
  local endpoints = list and list.endpoints[claude.model_of(self)]
  for _, one in ipairs(ways) do
    if endpoints and vim.list_contains(endpoints, one[1]) then
      return one[1], one[2]
    end
  end
  return "/chat/completions", "openai"
end

---@param self lathe.Adapter
---@return string
local function wire(self)
  return select(2, way(self))
end

---Whether an entry of the list is a model to chat with, and allowed.
---@param entry table
---@return boolean
local function takes(entry)
  local kind = vim.tbl_get(entry, "capabilities", "type")
  local state = vim.tbl_get(entry, "policy", "state")
  return (kind == nil or kind == "chat")
    and (state == nil or state == "enabled")
    and entry.model_picker_enabled ~= false
end

---@param token string
---@return table<string, string>
local function headers(token)
  return {
    Authorization = "Bearer " .. token,
    ["Copilot-Integration-Id"] = "vscode-chat",
    ["Editor-Version"] = "Neovim/" .. tostring(vim.version()):gsub("[^%w%.].*", ""),
  }
end

---Where each model is reached. Without the list all are by chat completions.
---@param self lathe.Adapter
---@param known { token: string, url: string }
---@param done fun()
local function find_ways(self, known, done)
  local list = lists[known.url]
  if list and list.ends > os.time() then
    list_of[self] = list
    return done()
  end
  transport.fetch(self, known.url .. "/models", headers(known.token), function(document)
    local endpoints, entries = {}, {}
    for _, entry in ipairs(type(document) == "table" and type(document.data) == "table" and document.data or {}) do
      if type(entry) == "table" and type(entry.id) == "string" then
        entries[entry.id] = entry
        endpoints[entry.id] = type(entry.supported_endpoints) == "table" and entry.supported_endpoints or nil
      end
    end
    if document then
      list = { endpoints = endpoints, entries = entries, ends = os.time() + LIST_S }
      lists[known.url], list_of[self] = list, list
      pcall(model_list.read, self, document)
    end
    done()
  end)
end

---A setting that is called otherwise on the wires.
---@param places table<string, string> by the wire
---@return table
local function setting(places)
  return {
    mapping = function(self)
      return places[wire(self)]
    end,
    enabled = function(self)
      return places[wire(self)] ~= nil
    end,
  }
end

---@type lathe.Adapter
return {
  name = "copilot",
  formatted_name = "Copilot",
  wire = wire,
  url = function(self)
    return "${api}" .. way(self)
  end,
  env = { token_url = "https://api.github.com/copilot_internal/v2/token" },
  headers = vim.tbl_extend("force", headers("${api_key}"), { ["anthropic-version"] = "2023-06-01" }),
  -- Requests that go on after a call are not counted as the user's.
  headers_with = {
    pictures = { ["Copilot-Vision-Request"] = "true" },
    results = { ["X-Initiator"] = "agent" },
    prompt = { ["X-Initiator"] = "user" },
  },
  dialect = function(self)
    return wire(self) == "openai" and { keep = { "reasoning_text", "reasoning_opaque" } } or { no_strict = true }
  end,
  schema = {
    model = { default = facts.defaults.copilot, mapping = "parameters" },
    reasoning_effort = setting({
      openai = "parameters.reasoning_effort",
      openai_responses = "parameters.reasoning.effort",
      anthropic = "parameters.output_config.effort",
    }),
    temperature = { mapping = "parameters" },
    top_p = { mapping = "parameters" },
    max_tokens = vim.tbl_extend(
      "force",
      setting({
        openai = "parameters.max_tokens",
        openai_responses = "parameters.max_output_tokens",
        anthropic = "parameters.max_tokens",
      }),
      {
        ---The wire of messages wants a limit.
        ---@param self lathe.Adapter
        ---@return integer?
        default = function(self)
          local entry = list_of[self] and list_of[self].entries[claude.model_of(self)]
          local limit = entry and vim.tbl_get(entry, "capabilities", "limits", "max_output_tokens")
          return wire(self) == "anthropic" and limit or nil
        end,
      }
    ),
    store = vim.tbl_extend("force", setting({ openai_responses = "parameters.store" }), { default = false }),
    include = {
      default = { "reasoning.encrypted_content" },
      mapping = "parameters",
      enabled = function(self)
        return wire(self) == "openai_responses" and reasoning.is_one(reasoning.model_of(self))
      end,
    },
    cache_control = vim.tbl_extend(
      "force",
      setting({ anthropic = "parameters.cache_control" }),
      { default = { type = "ephemeral" } }
    ),
  },
  opts = {
    stream = true,
    vision = function(self, model)
      local list = list_of[self]
      local entry = list and list.entries[model or ""]
      local supports = entry and vim.tbl_get(entry, "capabilities", "supports")
      return type(supports) ~= "table" or supports.vision ~= false
    end,
  },
  models = { url = "${api}/models", takes = takes },
  handlers = {
    request = {
      ---Exchanges the sign-in.
      ---@param self lathe.Adapter
      ---@param done fun(values: table<string, string>?, fault: string|lathe.Fault|nil)
      prepare = function(self, done)
        local function go_on(known)
          find_ways(self, known, function()
            done({ api_key = known.token, api = known.url })
          end)
        end
        sign_in.find(function(own, message)
          if not own then
            return done(nil, message)
          end
          local known = tokens[own]
          if known and known.ends - MARGIN_S > os.time() then
            return go_on(known)
          end
          local asking = { Authorization = "token " .. own, Accept = "application/json" }
          transport.fetch(self, self.env.token_url, asking, function(answer, why)
            if not answer or type(answer.token) ~= "string" then
              return done(nil, "the token could not be renewed: " .. (why or "the answer holds none"))
            end
            local url = vim.tbl_get(answer, "endpoints", "api") or "https://api.githubcopilot.com"
            known = { token = answer.token, url = url, ends = tonumber(answer.expires_at) or 0 }
            tokens[own] = known
            go_on(known)
          end)
        end)
      end,
    },
  },
}
