-- OpenAI, by its responses whatever the model: reasoning goes on from call to call, and the provider searches the web
-- itself.

local facts = require("lathe.adapters.model_facts")
local reasoning = require("lathe.adapters.reasoning_models")

---Whether a model reasons; one that does not refuses what is about reasoning.
---@param self lathe.Adapter
---@return boolean
local function reasons(self)
  local model = reasoning.model_of(self)
  return not (model:find("^gpt%-[34]") or model:find("^chatgpt"))
end

---@type lathe.Adapter
return {
  name = "openai_responses",
  formatted_name = "OpenAI",
  wire = "openai_responses",
  url = "${url}/v1/responses",
  env = { url = "https://api.openai.com", api_key = "OPENAI_API_KEY" },
  headers = { Authorization = "Bearer ${api_key}" },
  -- Nothing is kept there: the reasoning comes encrypted, and goes back as it came.
  parameters = { store = false },
  schema = {
    model = { default = facts.defaults.openai, mapping = "parameters" },
    effort = { mapping = "parameters.reasoning", enabled = reasons },
    -- Organisations that are not verified get none.
    summary = { mapping = "parameters.reasoning", enabled = reasons },
    include = { default = { "reasoning.encrypted_content" }, mapping = "parameters", enabled = reasons },
    verbosity = { mapping = "parameters.text" },
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
