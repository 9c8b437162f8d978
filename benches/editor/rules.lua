-- What rules.rs runs in its editor.
-- luacheck: globals chat done

local M = {}

function M.commands()
  local rules, parts = { { "*", "ask" } }, {}
  for i = 1, 200 do
    rules[i + 1] = { "program" .. i .. " *", i % 2 == 0 and "allow" or "ask" }
  end
  for i = 1, 600 do
    parts[i] = "program" .. i .. " argument"
  end
  local calls = {}
  for i = 1, 20 do
    calls[i] = { name = "run_command", arguments = { cmd = table.concat(parts, "\n") .. "\nrm x" .. i } }
  end
  rules[#rules + 1] = { "rm *", "deny" }
  require("lathe").setup({
    adapters = {
      http = {
        fake = require("lathe.adapters").extend("scripted", { turns = { { tool_calls = calls }, { text = "done" } } }),
      },
    },
    interactions = { chat = { adapter = "fake" } },
    permission = { bash = rules },
  })
  vim.api.nvim_create_autocmd("User", {
    pattern = "LatheChatDone",
    callback = function()
      done = true
    end,
  })
  chat = require("lathe").chat({ tools = { "run_command" }, prompt = "go" })
  vim.cmd.redraw()
end

return M
