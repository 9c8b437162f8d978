-- Z.ai: the GLM models. The coding plan has another address: `env.url`.

local facts = require("lathe.adapters.model_facts")

---@type lathe.Adapter
return {
  name = "z_ai",
  formatted_name = "Z.ai",
  wire = "openai",
  url = "${url}/chat/completions",
  env = { url = "https://api.z.ai/api/paas/v4", api_key = "ZAI_API_KEY" },
  headers = { Authorization = "Bearer ${api_key}" },
  -- It refuses fields that others take.
  parameters = { stream_options = false },
  dialect = { no_strict = true, no_answer_schema = true },
  schema = {
    model = { default = facts.defaults.z_ai, mapping = "parameters" },
    thinking = { mapping = "parameters" },
    tool_stream = { mapping = "parameters" },
    reasoning_effort = { mapping = "parameters" },
    temperature = { mapping = "parameters" },
    top_p = { mapping = "parameters" },
    max_tokens = { mapping = "parameters" },
  },
  opts = {
    stream = true,
    vision = function(_, model)
      return facts.of(model or "").pictures == true
    end,
  },
  models = { url = "${url}/models" },
}
