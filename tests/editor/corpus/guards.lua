-- What corpus/guards.rs runs in its editor.
-- luacheck: globals chat

local M = {}

function M.judge(verdict)
  local extend = require("lathe.adapters").extend
  require("lathe").setup({
    adapters = {
      http = {
        fake = extend("scripted", { turns = { answer("judged", { what = "a chair" }), { text = "done" } } }),
        judge = extend("scripted", { turns = { { text = verdict } } }),
      },
    },
    interactions = {
      chat = { adapter = "fake", tools = one("judged") },
      background = { gates = { judge = { adapter = "judge" } } },
    },
  })
  chat = require("lathe").chat({ tools = { "judged" } })
  chat:set_auto(true)
  send("go")
end

return M
