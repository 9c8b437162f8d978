-- What input/completion.rs runs in its editor.
-- luacheck: globals chat

local M = {}

function M.many_tools()
  local tools = {
    broken = { path = "no.such.module" },
    moody = {
      path = "x",
      enabled = function()
        error("moody")
      end,
    },
    run_command = false,
    memory = false,
  }
  for i = 1, 500 do
    tools["t" .. i] = { path = "module.of." .. i, description = "number " .. i }
  end
  require("lathe").setup({ interactions = { chat = { tools = tools } } })
  chat = require("lathe").chat()
end

return M
