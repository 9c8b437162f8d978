-- LM Studio on this machine.

---@type lathe.Adapter
return vim.tbl_deep_extend("force", require("lathe.adapters.openai_compatible"), {
  name = "lm_studio",
  formatted_name = "LM Studio",
  env = { url = "http://127.0.0.1:1234" },
})
