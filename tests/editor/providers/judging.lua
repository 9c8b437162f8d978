-- What judging.rs runs in its editor.
-- luacheck: globals chat

local M = {}

---@param judge string code of its adapter
function M.judging(judge)
  local scripted = require("lathe.adapters").extend("scripted", { turns = { answer("t", {}), { text = "done" } } })
  require("lathe").setup({
    adapters = { http = { fake = scripted, judging = assert(load("return " .. judge))() } },
    interactions = {
      chat = {
        adapter = "fake",
        tools = {
          t = tool("t", {
            function()
              return { status = "success", data = "ran" }
            end,
          }, {
            gates = {
              judge_context = function()
                return "Prints a text"
              end,
            },
            opts = { require_cmd_approval = true, judge = true },
          }),
        },
      },
      background = { gates = { judge = { adapter = "judging" } } },
    },
  })
  chat = require("lathe").chat({ tools = { "t" } })
  chat:set_auto(true)
  send("go")
end

return M
