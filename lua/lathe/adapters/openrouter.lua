-- OpenRouter: the models of many providers.

local facts = require("lathe.adapters.model_facts")

---@type lathe.Adapter
return {
  name = "openrouter",
  formatted_name = "OpenRouter",
  wire = "openai",
  url = "${url}/api/v1/chat/completions",
  env = { url = "https://openrouter.ai", api_key = "OPENROUTER_API_KEY" },
  headers = { Authorization = "Bearer ${api_key}", ["X-Title"] = "lathe.nvim" },
  dialect = { keep = { "reasoning_details" } },
  schema = {
    model = { default = facts.defaults.openrouter, mapping = "parameters" },
    reasoning = { mapping = "parameters" },
    temperature = { mapping = "parameters" },
    top_p = { mapping = "parameters" },
    max_tokens = { mapping = "parameters" },
  },
  opts = { stream = true, vision = true },
  models = { url = "${url}/api/v1/models" },
}
