-- Anthropic, by its messages.

local claude = require("lathe.adapters.claude_models")
local facts = require("lathe.adapters.model_facts")

---A tool that the provider runs.
---@param name string
---@param newest string its version
---@param older string? the version for models before 4.6
---@return fun(self: lathe.Adapter, meta: { tools: table })
local function tool(name, newest, older)
  return function(self, meta)
    local own = claude.version(claude.model_of(self))
    local version = (older and own > 0 and own < 406) and older or newest
    table.insert(meta.tools, { type = name .. "_" .. version, name = name })
  end
end

---The same in one version, whatever the model.
---@param name string
---@param version string
---@return lathe.AdapterTool
local function pinned(name, version)
  return {
    description = ("The provider's %s as it was in %s."):format(name, version),
    callback = tool(name, version),
    opts = { visible = false },
  }
end

---@type lathe.Adapter
return {
  name = "anthropic",
  formatted_name = "Anthropic",
  wire = "anthropic",
  url = "${url}/v1/messages",
  env = { url = "https://api.anthropic.com", api_key = "ANTHROPIC_API_KEY" },
  headers = { ["x-api-key"] = "${api_key}", ["anthropic-version"] = "2023-06-01" },
  -- What was sent before is read from the provider's cache: tools, system prompt and the last turns get this mark.
  parameters = { cache_control = { type = "ephemeral" } },
  dialect = function(self)
    return { eager_input = true, no_strict = not claude.is_from(self, 405) }
  end,
  schema = {
    model = { default = facts.defaults.anthropic, mapping = "parameters" },
    max_tokens = { default = 32000, mapping = "parameters" },
    thinking = {
      default = { type = "adaptive", display = "summarized" },
      mapping = "parameters",
      enabled = function(self)
        return claude.is_from(self, 406) or self.schema.thinking.default.type ~= "adaptive"
      end,
    },
    effort = { mapping = "parameters.output_config" },
    temperature = { mapping = "parameters" },
    top_p = { mapping = "parameters" },
    top_k = { mapping = "parameters" },
  },
  opts = { stream = true, vision = true },
  models = { url = "${url}/v1/models?limit=1000" },
  available_tools = {
    web_search = {
      description = "Lets the model search the web.",
      callback = tool("web_search", "20260318", "20250305"),
    },
    web_fetch = {
      description = "Lets the model read pages whose address is in the chat.",
      callback = tool("web_fetch", "20260318", "20250910"),
    },
    code_execution = {
      description = "Lets the model run code in a sandbox of the provider's.",
      callback = tool("code_execution", "20260521", "20250825"),
    },
    memory = {
      description = "Lets the model keep notes from chat to chat, in files on this machine.",
      callback = tool("memory", "20250818"),
      opts = { client_tool = "interactions.chat.tools.memory" },
    },
    -- Older names are accepted.
    web_search_20250305 = pinned("web_search", "20250305"),
    web_search_20260209 = pinned("web_search", "20260209"),
    web_fetch_20250910 = pinned("web_fetch", "20250910"),
    web_fetch_20260209 = pinned("web_fetch", "20260209"),
    web_fetch_20260309 = pinned("web_fetch", "20260309"),
    code_execution_20250825 = pinned("code_execution", "20250825"),
    code_execution_20260120 = pinned("code_execution", "20260120"),
  },
}
