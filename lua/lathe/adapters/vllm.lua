-- vLLM on this machine.

---@type lathe.Adapter
return vim.tbl_deep_extend("force", require("lathe.adapters.openai_compatible"), {
  name = "vllm",
  formatted_name = "vLLM",
  env = { url = "http://127.0.0.1:8000" },
})
