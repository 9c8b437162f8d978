-- Anthropic, by its messages.

---The version in a model's name, as a number: 4.6, 5.
---@param self lathe.Adapter
---@return number
local function version(self)
  local model = tostring(self.model or self.schema.model.default)
  local major, minor = model:match("^claude%-%a+%-(%d+)%-?(%d*)")
  minor = tonumber(minor) or 0
  return (tonumber(major) or 0) + (minor < 100 and minor / 10 or 0)
end

---@param kind string the tool and its version, as the provider names them
---@param name string
---@return fun(self: lathe.Adapter, meta: { tools: table })
local function tool(kind, name)
  return function(_, meta)
    table.insert(meta.tools, { type = kind, name = name })
  end
end

---@type lathe.Adapter
return {
  name = "anthropic",
  formatted_name = "Anthropic",
  wire = "anthropic",
  url = "${url}/v1/messages",
  env = { url = "https://api.anthropic.com", api_key = "ANTHROPIC_API_KEY" },
  headers = { ["x-api-key"] = "${api_key}", ["anthropic-version"] = "2023-06-01" },
  -- What was sent before is read from the provider's cache.
  parameters = { cache_control = { type = "ephemeral" } },
  schema = {
    model = { default = "claude-opus-5-5", mapping = "parameters" },
    max_tokens = { default = 32000, mapping = "parameters" },
    thinking = {
      default = { type = "adaptive", display = "summarized" },
      mapping = "parameters",
      enabled = function(self)
        return version(self) >= 4.6 or self.schema.thinking.default.type ~= "adaptive"
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
      callback = tool("web_search_20250305", "web_search"),
    },
    web_fetch = {
      description = "Lets the model read pages whose address is in the chat.",
      callback = tool("web_fetch_20250910", "web_fetch"),
    },
    code_execution = {
      description = "Lets the model run code in a sandbox of the provider's.",
      callback = tool("code_execution_20250825", "code_execution"),
    },
    memory = {
      description = "Lets the model keep notes from chat to chat, in files on this machine.",
      callback = tool("memory_20250818", "memory"),
      opts = { client_tool = "interactions.chat.tools.memory" },
    },
  },
}
