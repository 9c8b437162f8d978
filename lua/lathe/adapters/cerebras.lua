-- Cerebras: open models at great speed.

local facts = require("lathe.adapters.model_facts")

---@type lathe.Adapter
return {
  name = "cerebras",
  formatted_name = "Cerebras",
  wire = "openai",
  url = "${url}/v1/chat/completions",
  env = { url = "https://api.cerebras.ai", api_key = "CEREBRAS_API_KEY" },
  headers = { Authorization = "Bearer ${api_key}" },
  schema = {
    model = { default = facts.defaults.cerebras, mapping = "parameters" },
    reasoning_effort = { mapping = "parameters" },
    temperature = { mapping = "parameters" },
    top_p = { mapping = "parameters" },
    max_completion_tokens = { mapping = "parameters" },
  },
  opts = {
    stream = true,
    vision = function(_, model)
      return facts.of(model or "").pictures == true
    end,
  },
  models = { url = "${url}/v1/models" },
}
