-- xAI.

---@type lathe.Adapter
return {
  name = "xai",
  formatted_name = "xAI",
  wire = "openai",
  url = "${url}/v1/chat/completions",
  env = { url = "https://api.x.ai", api_key = "XAI_API_KEY" },
  headers = { Authorization = "Bearer ${api_key}" },
  schema = {
    model = { default = "grok-4", mapping = "parameters" },
    reasoning_effort = { mapping = "parameters" },
    temperature = { mapping = "parameters" },
    top_p = { mapping = "parameters" },
    max_completion_tokens = { mapping = "parameters" },
  },
  opts = { stream = true, vision = true },
  models = { url = "${url}/v1/models" },
}
