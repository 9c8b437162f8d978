-- OpenAI, by its responses: reasoning goes on from call to call, and the provider searches the web itself.

---Whether a model reasons; one that does not refuses what is about reasoning.
---@param self lathe.Adapter
---@return boolean
local function reasons(self)
  local model = tostring(self.model or self.schema.model.default)
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
    model = { default = "gpt-5.5", mapping = "parameters" },
    effort = { mapping = "parameters.reasoning", enabled = reasons },
    summary = { default = "auto", mapping = "parameters.reasoning", enabled = reasons },
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
