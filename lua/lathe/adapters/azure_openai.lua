-- OpenAI's models on Azure. The model is the name of your deployment.

---@type lathe.Adapter
return {
  name = "azure_openai",
  formatted_name = "Azure OpenAI",
  wire = "openai",
  url = "${endpoint}/openai/v1/chat/completions",
  env = { endpoint = "AZURE_OPENAI_ENDPOINT", api_key = "AZURE_OPENAI_API_KEY" },
  headers = { ["api-key"] = "${api_key}" },
  schema = {
    model = { mapping = "parameters", required = true },
    reasoning_effort = { mapping = "parameters" },
    temperature = { mapping = "parameters" },
    top_p = { mapping = "parameters" },
    max_completion_tokens = { mapping = "parameters" },
  },
  opts = { stream = true, vision = true },
}
