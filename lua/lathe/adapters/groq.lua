-- Groq.

local facts = require("lathe.adapters.model_facts")

---@type lathe.Adapter
return {
  name = "groq",
  formatted_name = "Groq",
  wire = "openai",
  url = "${url}/openai/v1/chat/completions",
  env = { url = "https://api.groq.com", api_key = "GROQ_API_KEY" },
  headers = { Authorization = "Bearer ${api_key}" },
  schema = {
    model = { default = facts.defaults.groq, mapping = "parameters" },
    reasoning_effort = { mapping = "parameters" },
    temperature = { mapping = "parameters" },
    top_p = { mapping = "parameters" },
    max_completion_tokens = { mapping = "parameters" },
  },
  opts = { stream = true, vision = false },
  models = { url = "${url}/openai/v1/models" },
}
