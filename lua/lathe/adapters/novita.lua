-- Novita AI: open models.

local facts = require("lathe.adapters.model_facts")

---@type lathe.Adapter
return {
  name = "novita",
  formatted_name = "Novita",
  wire = "openai",
  url = "${url}/openai/v1/chat/completions",
  env = { url = "https://api.novita.ai", api_key = "NOVITA_API_KEY" },
  headers = { Authorization = "Bearer ${api_key}" },
  schema = {
    model = { default = facts.defaults.novita, mapping = "parameters" },
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
  models = { url = "${url}/openai/v1/models" },
}
