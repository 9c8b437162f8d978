-- Moonshot: the Kimi models. The address is another in China: `env.url`.

local facts = require("lathe.adapters.model_facts")

---@type lathe.Adapter
return {
  name = "moonshot",
  formatted_name = "Moonshot",
  wire = "openai",
  url = "${url}/v1/chat/completions",
  env = { url = "https://api.moonshot.ai", api_key = "MOONSHOT_API_KEY" },
  headers = { Authorization = "Bearer ${api_key}" },
  -- Once there are tools, all reasoning must come back; a strict schema is refused.
  dialect = { reasoning_back = "reasoning_content", no_strict = true },
  schema = {
    model = { default = facts.defaults.moonshot, mapping = "parameters" },
    thinking = { mapping = "parameters" },
    reasoning_effort = { mapping = "parameters" },
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
