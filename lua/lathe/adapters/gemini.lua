-- Google's Gemini, by generateContent.

local facts = require("lathe.adapters.model_facts")
local gemini = require("lathe.adapters.gemini_models")

---@type lathe.Adapter
return {
  name = "gemini",
  formatted_name = "Gemini",
  wire = "gemini",
  url = "${url}/v1beta/models/${model}:streamGenerateContent?alt=sse",
  env = { url = "https://generativelanguage.googleapis.com", api_key = "GEMINI_API_KEY" },
  headers = { ["x-goog-api-key"] = "${api_key}" },
  schema = {
    model = { default = facts.defaults.gemini, mapping = "parameters" },
    includeThoughts = {
      default = true,
      mapping = "parameters.generationConfig.thinkingConfig",
      enabled = gemini.thinks,
    },
    thinkingBudget = { mapping = "parameters.generationConfig.thinkingConfig" },
    thinkingLevel = { mapping = "parameters.generationConfig.thinkingConfig" },
    maxOutputTokens = { mapping = "parameters.generationConfig" },
    temperature = { mapping = "parameters.generationConfig" },
    topP = { mapping = "parameters.generationConfig" },
    topK = { mapping = "parameters.generationConfig" },
  },
  opts = { stream = true, vision = true },
  models = { url = "${url}/v1beta/models?pageSize=1000", list = "models", id = "name", prefix = "models/" },
  handlers = {
    lifecycle = {
      -- An answer in one piece has an address of its own.
      setup = gemini.set_up,
    },
  },
}
