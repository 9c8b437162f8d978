-- What corpus/servers.rs runs in its editor.
-- luacheck: globals chat

local M = {}

---@param calls string code of what the model calls
---@param tools string code of the tools' names
function M.use_tools(calls, tools)
  local turns = { assert(load("return answer(" .. calls .. ")"))(), { text = "done" } }
  require("lathe.adapters").register("fake", require("lathe.adapters").extend("scripted", { turns = turns }))
  chat = require("lathe").chat({ adapter = "fake", tools = assert(load("return {" .. tools .. "}"))() })
  send("go")
end

function M.dashed()
  require("lathe.adapters").register(
    "fake",
    require("lathe.adapters").extend("scripted", { turns = { answer("my_server__say_hi", {}), { text = "done" } } })
  )
  chat = require("lathe").chat({ adapter = "fake" })
  send("Use @{my-server}")
end

return M
