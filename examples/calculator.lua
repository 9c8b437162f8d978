-- A calculator for the model, and an offline provider that uses it. Nothing else is needed to try it:
--   nvim --clean --cmd "set rtp^=." -u examples/calculator.lua
-- then `:Lathe chat`, type `Use the @{calculator} tool for 100*50`, and send it with <CR> in normal mode.

local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, "S").source:sub(2)))

require("lathe").setup({
  interactions = {
    chat = {
      tools = {
        calculator = { description = "Perform calculations", path = here .. "/tools/calculator.lua" },
      },
    },
  },
})

-- The provider: it plays a model that calls the calculator and then says what that gave. Chats use it since no other
-- is configured.
local scripted = require("lathe.adapters").extend("scripted", {
  turns = function(messages)
    local last = messages[#messages]
    if last.role == "tool" then
      return { text = ("100 × 50 is **%s**."):format(last.content) }
    end
    local arguments = { num1 = 100, num2 = 50, operation = "multiply" }
    return { tool_calls = { { name = "calculator", arguments = arguments } } }
  end,
})
require("lathe.adapters").register("scripted", scripted)
