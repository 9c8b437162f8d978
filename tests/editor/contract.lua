-- What contract.rs runs in its editor.
-- luacheck: globals chat

local M = {}

---Opens a chat that talks to a server.
---@param url string
---@param tools string code
---@param adapter string code of further fields
function M.connect(url, tools, adapter)
  local own = {
    formatted_name = "Here",
    env = { url = url, api_key = "plain key" },
    schema = { model = { default = "small" } },
  }
  own = vim.tbl_deep_extend("force", own, assert(load("return " .. adapter))())
  require("lathe").setup({
    adapters = { http = { here = require("lathe.adapters").extend("openai_compatible", own) } },
    interactions = { chat = { adapter = "here", tools = assert(load("return " .. tools))() } },
  })
  vim.cmd("Lathe chat")
  chat = require("lathe").last_chat()
end

return M
