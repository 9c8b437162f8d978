-- What corpus/words.rs runs in its editor.
-- luacheck: globals chat

local M = {}

---@param groups string code
function M.with_groups(groups)
  local function ok()
    return { status = "success", data = "fine" }
  end
  local fake = require("lathe.adapters").extend("scripted", { turns = { { text = "done" }, { text = "done" } } })
  require("lathe").setup({
    adapters = { http = { fake = fake } },
    interactions = {
      chat = {
        adapter = "fake",
        tools = {
          a = tool("a", { ok }),
          b = tool("b", { ok }),
          off = tool("off", { ok }, { enabled = false }),
          groups = assert(load("return {" .. groups .. "}"))(),
        },
      },
    },
  })
  chat = require("lathe").chat({})
end

return M
