-- What looks/facts.rs runs in its editor.
-- luacheck: globals chat

local M = {}

function M.wide_icons()
  local block, wide = require("lathe.chat.draw.block"), {}
  for _, given in ipairs({ "ascii", {} }) do
    local icons = block.icons(given ~= "ascii" and given or "ascii")
    assert(vim.tbl_count(icons) > 10)
    for state, icon in pairs(icons) do
      if vim.fn.strdisplaywidth(icon) ~= 1 or (given == "ascii" and #icon ~= 1) then
        wide[#wide + 1] = state
      end
    end
  end
  return table.concat(wide, " ")
end

function M.denied()
  local turns = { answer("t", {}), { text = "done" } }
  require("lathe").setup({
    adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = turns }) } },
    interactions = { chat = { adapter = "fake", tools = { t = tool("t", { "rm -rf target" }) } } },
    permission = { bash = { { "rm *", "deny" } } },
  })
  chat = require("lathe").chat({ tools = { "t" }, prompt = "go", submit = true })
  alone()
end

return M
