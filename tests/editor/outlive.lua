-- What outlive.rs runs in its editor.
-- luacheck: globals chat

local M = {}

function M.commands(mark, count, commands)
  local turn = { tool_calls = {} }
  for n = 1, count do
    turn.tool_calls[n] = { name = "t", arguments = { n = n } }
  end
  open({ turn, { text = "done" } }, {
    t = tool("t", {}, {
      env = function(self)
        return { n = self.args.n, mark = mark }
      end,
      handlers = {
        setup = function(self)
          self.cmds = { commands[(self.args.n - 1) % #commands + 1] }
        end,
      },
      opts = { parallel = true },
    }),
    opts = { max_parallel = count },
  })
  send("go")
end

function M.dying(mark, delay_ms)
  local turn = { tool_calls = {} }
  for n = 1, 60 do
    turn.tool_calls[n] = { name = "t", arguments = { n = n } }
  end
  open({ turn, { text = "done" } }, {
    t = tool("t", { "sleep " .. mark }, { opts = { parallel = true } }),
    opts = { max_parallel = 60 },
  })
  local timer = vim.uv.new_timer()
  vim.api.nvim_create_autocmd("User", {
    pattern = "LatheToolStarted",
    once = true,
    callback = function()
      timer:start(delay_ms, 0, function()
        vim.uv.kill(vim.uv.os_getpid(), "sigkill")
      end)
    end,
  })
  send("go")
end

function M.background(mark)
  local commands = { "sleep %s & echo", "sleep %s > /dev/null 2>&1 & echo", "setsid sleep %s & echo" }
  local tools, calls = {}, {}
  for i, text in ipairs(commands) do
    local name = "t" .. i
    tools[name] = tool(name, { text:format(mark) }, { opts = { background = true } })
    vim.list_extend(calls, { name, {} })
  end
  open({ answer(unpack(calls)), { text = "done" } }, tools)
  send("go")
end

function M.key_command(...)
  require("lathe").setup({
    adapters = {
      http = {
        own = require("lathe.adapters").extend("openai_compatible", {
          env = { api_key = "cmd:sleep " .. ... .. "; echo key" },
          schema = { model = { default = "m" } },
        }),
      },
    },
    interactions = { chat = { adapter = "own" } },
  })
  chat = require("lathe").chat()
  send("go")
end

return M
