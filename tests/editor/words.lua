-- What words.rs runs in its editor.
-- luacheck: globals chat

local M = {}

-- Texts of a tool that look like what the engine says of calls.
local lookalikes = {
  'denied by rule bash "rm *" (setup()): rm -rf x',
  "What it had printed:\n\n5 lines",
  "Error calling t",
  "400: Invalid schema",
  "not run",
}

---A tool that fails with each of them, and says them.
function M.lookalikes()
  local calls, cmds =
    {}, {
      function(_, args)
        return { status = args.fails and "error" or "success", data = lookalikes[args.text] }
      end,
    }
  for i in ipairs(lookalikes) do
    calls[#calls + 1] = { name = "t", arguments = { text = i } }
    calls[#calls + 1] = { name = "t", arguments = { text = i, fails = true } }
  end
  open({ { tool_calls = calls }, { text = "done" } }, { t = tool("t", cmds) })
  send("go")
end

---A tool whose values are held against rules.
---@param pattern string
---@param action string
---@param value string
function M.rule(pattern, action, value)
  local reader = tool("reader", {
    function()
      return { status = "success", data = "text" }
    end,
  }, {
    permission = {
      key = "read",
      values = function(args)
        return { args.path }
      end,
    },
  })
  local turns = { answer("reader", { path = value }), { text = "done" } }
  require("lathe").setup({
    adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = turns }) } },
    interactions = { chat = { adapter = "fake", tools = { reader = reader } } },
    permission = { read = { [pattern] = action } },
  })
  chat = require("lathe").chat({ tools = { "reader" } })
  vim.cmd("only")
  send("go")
end

---What the judge may say.
function M.judged(reason)
  local words = require("lathe.words")
  return words.cause_detail({ kind = "auto_mode", doubt = "judged", reason = reason })
end

return M
