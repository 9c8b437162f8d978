-- Mistral.

local facts = require("lathe.adapters.model_facts")

---@type lathe.Adapter
return {
  name = "mistral",
  formatted_name = "Mistral",
  wire = "openai",
  url = "${url}/v1/chat/completions",
  env = { url = "https://api.mistral.ai", api_key = "MISTRAL_API_KEY" },
  headers = { Authorization = "Bearer ${api_key}" },
  -- It refuses fields and ids that others take, and a message of the user right after a result.
  parameters = { stream_options = false },
  dialect = { call_id_length = 9, answer_between = true, thinking_parts = true },
  schema = {
    model = { default = facts.defaults.mistral, mapping = "parameters" },
    reasoning_effort = { mapping = "parameters" },
    temperature = { mapping = "parameters" },
    top_p = { mapping = "parameters" },
    max_tokens = { mapping = "parameters" },
  },
  opts = { stream = true, vision = true },
  models = { url = "${url}/v1/models" },
}
