-- Hugging Face: open models at many providers, by its router. `:provider` after a model picks one.

local facts = require("lathe.adapters.model_facts")

---@type lathe.Adapter
return {
  name = "huggingface",
  formatted_name = "Hugging Face",
  wire = "openai",
  url = "${url}/v1/chat/completions",
  env = { url = "https://router.huggingface.co", api_key = "HF_TOKEN" },
  headers = { Authorization = "Bearer ${api_key}" },
  schema = {
    model = { default = facts.defaults.huggingface, mapping = "parameters" },
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
  models = { url = "${url}/v1/models" },
}
