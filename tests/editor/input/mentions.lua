-- What input/mentions.rs runs in its editor.
-- luacheck: globals chat finish

local M = {}

function M.queued_mention()
  require("lathe").setup({
    adapters = {
      http = {
        fake = require("lathe.adapters").extend("scripted", { turns = { answer("later", {}), { text = "done" } } }),
      },
    },
    interactions = {
      chat = {
        adapter = "fake",
        tools = {
          later = tool("later", {
            function(_, _, o)
              finish = o.output_cb
            end,
          }),
        },
      },
    },
  })
  chat = require("lathe").chat({ tools = { "later" } })
  send("go")
end

return M
