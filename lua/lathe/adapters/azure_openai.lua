-- OpenAI's models on Azure, by their responses. The model is the name of your deployment.

local reasoning = require("lathe.adapters.reasoning_models")

---@type lathe.Adapter
return {
  name = "azure_openai",
  formatted_name = "Azure OpenAI",
  wire = "openai_responses",
  url = "${endpoint}/openai/v1/responses",
  env = { endpoint = "AZURE_OPENAI_ENDPOINT", api_key = "AZURE_OPENAI_API_KEY" },
  headers = { ["api-key"] = "${api_key}" },
  -- Nothing is kept there.
  parameters = { store = false },
  schema = {
    model = { mapping = "parameters", required = true },
    effort = { mapping = "parameters.reasoning" },
    summary = { mapping = "parameters.reasoning" },
    -- A deployment may be called anything; one that does not reason refuses this.
    include = {
      default = { "reasoning.encrypted_content" },
      mapping = "parameters",
      enabled = function(self)
        return reasoning.is_one(reasoning.model_of(self))
      end,
    },
    temperature = { mapping = "parameters" },
    top_p = { mapping = "parameters" },
    max_output_tokens = { mapping = "parameters" },
  },
  opts = { stream = true, vision = true },
}
