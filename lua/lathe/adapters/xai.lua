-- xAI, by its responses.

local facts = require("lathe.adapters.model_facts")

---@type lathe.Adapter
return {
  name = "xai",
  formatted_name = "xAI",
  wire = "openai_responses",
  url = "${url}/v1/responses",
  env = { url = "https://api.x.ai", api_key = "XAI_API_KEY" },
  headers = { Authorization = "Bearer ${api_key}" },
  -- Nothing is kept there: the reasoning comes encrypted, and goes back as it came.
  parameters = { store = false, include = { "reasoning.encrypted_content" } },
  schema = {
    model = { default = facts.defaults.xai, mapping = "parameters" },
    effort = { mapping = "parameters.reasoning" },
    temperature = { mapping = "parameters" },
    top_p = { mapping = "parameters" },
    max_output_tokens = { mapping = "parameters" },
  },
  opts = { stream = true, vision = true },
  models = { url = "${url}/v1/models" },
  available_tools = {
    web_search = {
      description = "Lets the model search the web.",
      callback = function(_, meta)
        table.insert(meta.tools, { type = "web_search" })
      end,
    },
  },
}
