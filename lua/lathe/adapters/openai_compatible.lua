-- Any server that speaks OpenAI's chat completions: set `env.url`, and `env.api_key` if it wants a key.

---@type lathe.Adapter
return {
  name = "openai_compatible",
  formatted_name = "OpenAI compatible",
  wire = "openai",
  url = "${url}${chat_url}",
  env = { url = "http://127.0.0.1:8080", chat_url = "/v1/chat/completions", api_key = "" },
  headers = { Authorization = "Bearer ${api_key}" },
  schema = {
    model = { mapping = "parameters" },
    temperature = { mapping = "parameters" },
    top_p = { mapping = "parameters" },
    max_tokens = { mapping = "parameters" },
  },
  opts = { stream = true, vision = false },
  models = { url = "${url}${chat_url}", beside = true },
}
