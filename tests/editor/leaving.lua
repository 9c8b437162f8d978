-- What leaving.rs runs in its editor.
-- luacheck: globals ran running sleeper

local M = {}

function M.jobs(path)
  open({ answer("t", {}, "never", {}) }, {
    t = tool("t", {
      function(_, _, opts)
        sleeper = vim.system({ "sleep", "3600" })
        opts.register_job(sleeper)
        opts.register_job({
          kill = function(_, signal)
            vim.fn.writefile({ tostring(signal) }, path)
          end,
        })
        opts.register_job({
          kill = function()
            error("cannot be ended")
          end,
        })
      end,
    }, {
      handlers = {
        on_exit = function()
          vim.fn.writefile({ "exit" }, path .. ".exit")
        end,
      },
    }),
    never = tool("never", {
      function()
        vim.fn.writefile({ "ran" }, path .. ".never")
      end,
    }),
  })
  send("go")
end

function M.command(...)
  open({ answer("t", {}) }, {
    t = tool("t", { "sleep 3600 & echo $! > '" .. ... .. "'; wait" }),
  })
  send("go")
end

function M.stubborn(home)
  open({ answer("t", {}) }, {
    t = tool("t", { "trap '' TERM; echo $$ > '" .. home .. "/pid'; sleep 3600" }, {
      handlers = {
        on_exit = function()
          vim.fn.writefile({ "exit" }, home .. "/exit")
        end,
      },
    }),
  })
  send("go")
end

function M.asking()
  open({ answer("t", {}, "t", { n = 2 }) }, {
    t = tool("t", {
      function()
        vim.fn.writefile({ "ran" }, "ran")
      end,
    }, { opts = { require_approval_before = true } }),
  })
  send("go")
end

function M.ten_thousand()
  ran = 0
  local turn = { tool_calls = {} }
  for i = 1, 10000 do
    turn.tool_calls[i] = { name = "t", arguments = { n = i } }
  end
  open({ turn }, {
    t = tool("t", {
      function(_, args)
        ran = ran + 1
        return { status = "success", data = args.n }
      end,
    }),
  })
  send("go")
end

function M.throwing()
  local function throw()
    error("thrown on purpose")
  end
  open({ answer("t", {}) }, {
    t = tool("t", {
      function()
        running = true
      end,
    }, { handlers = { on_exit = throw }, output = { cancelled = throw } }),
  })
  send("go")
end

return M
