-- llama.cpp's server on this machine.

---@type lathe.Adapter
return vim.tbl_deep_extend("force", require("lathe.adapters.openai_compatible"), {
  name = "llama_cpp",
  formatted_name = "llama.cpp",
  env = { url = "http://127.0.0.1:8080" },
})
