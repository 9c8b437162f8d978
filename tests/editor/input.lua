-- What input.rs runs in its editor.
-- luacheck: globals finish

local M = {}

function M.statusline()
  local turns = { answer("asks", {}), { text = "done", usage = { input = 1234, output = 56 } } }
  require("lathe").setup({
    adapters = {
      http = {
        fake = require("lathe.adapters").extend("scripted", {
          turns = turns,
          formatted_name = "100%",
          schema = { model = { default = "big-one" } },
        }),
      },
    },
    interactions = {
      chat = {
        adapter = "fake",
        tools = {
          asks = tool("asks", {
            function(_, _, o)
              finish = o.output_cb
            end,
          }, { opts = { require_approval_before = true } }),
        },
      },
    },
  })
end

return M
