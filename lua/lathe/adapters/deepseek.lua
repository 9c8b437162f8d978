-- DeepSeek.

local facts = require("lathe.adapters.model_facts")

---@type lathe.Adapter
return {
  name = "deepseek",
  formatted_name = "DeepSeek",
  wire = "openai",
  url = "${url}/chat/completions",
  env = { url = "https://api.deepseek.com", api_key = "DEEPSEEK_API_KEY" },
  headers = { Authorization = "Bearer ${api_key}" },
  -- Once there are tools, all reasoning must come back; schemas are enforced elsewhere only.
  dialect = { reasoning_back = "reasoning_content", no_strict = true, no_answer_schema = true },
  schema = {
    model = { default = facts.defaults.deepseek, mapping = "parameters" },
    thinking = { mapping = "parameters" },
    reasoning_effort = { mapping = "parameters" },
    temperature = { mapping = "parameters" },
    top_p = { mapping = "parameters" },
    max_tokens = { mapping = "parameters" },
  },
  opts = { stream = true, vision = false },
  models = { url = "${url}/models" },
}
