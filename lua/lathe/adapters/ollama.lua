-- Ollama on this machine or another, by its own chat.

---@type lathe.Adapter
return {
  name = "ollama",
  formatted_name = "Ollama",
  wire = "ollama",
  url = "${url}/api/chat",
  env = {
    url = function()
      local host = vim.env.OLLAMA_HOST or ""
      if host == "" then
        return "http://127.0.0.1:11434"
      end
      host = host:gsub("/+$", ""):gsub("0%.0%.0%.0", "127.0.0.1")
      return host:find("://") and host or "http://" .. (host:find(":%d+$") and host or host .. ":11434")
    end,
    api_key = "",
  },
  headers = { Authorization = "Bearer ${api_key}" },
  schema = {
    model = { mapping = "parameters", required = true },
    think = { mapping = "parameters" },
    keep_alive = { mapping = "parameters" },
    num_ctx = { mapping = "parameters.options" },
    num_predict = { mapping = "parameters.options" },
    temperature = { mapping = "parameters.options" },
    top_p = { mapping = "parameters.options" },
  },
  -- Most models that run at home take none, and the server refuses a chat with a picture then.
  opts = { stream = true, vision = false },
  models = { url = "${url}/api/tags", list = "models", id = "name" },
}
