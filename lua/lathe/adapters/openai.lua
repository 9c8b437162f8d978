-- OpenAI, by its chat completions.

---@type lathe.Adapter
return {
  name = "openai",
  formatted_name = "OpenAI",
  wire = "openai",
  url = "${url}/v1/chat/completions",
  env = { url = "https://api.openai.com", api_key = "OPENAI_API_KEY" },
  headers = { Authorization = "Bearer ${api_key}" },
  schema = {
    model = { default = "gpt-5", mapping = "parameters" },
    reasoning_effort = { mapping = "parameters" },
    temperature = { mapping = "parameters" },
    top_p = { mapping = "parameters" },
    max_completion_tokens = { mapping = "parameters" },
  },
  opts = { stream = true, vision = true },
  models = { url = "${url}/v1/models" },
}
