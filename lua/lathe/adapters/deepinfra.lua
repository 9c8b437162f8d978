-- DeepInfra: open models.

local facts = require("lathe.adapters.model_facts")

---@type lathe.Adapter
return {
  name = "deepinfra",
  formatted_name = "DeepInfra",
  wire = "openai",
  url = "${url}/v1/openai/chat/completions",
  env = { url = "https://api.deepinfra.com", api_key = "DEEPINFRA_API_KEY" },
  headers = { Authorization = "Bearer ${api_key}" },
  schema = {
    model = { default = facts.defaults.deepinfra, mapping = "parameters" },
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
  models = { url = "${url}/v1/openai/models" },
}
