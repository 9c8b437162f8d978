-- What commands/life.rs runs in its editor.
-- luacheck: globals chats fault killed process register_later run started theirs wrong

local M = {}

function M.three_kinds(stubborn, tree)
  open({ answer("t", { n = 1 }, "t", { n = 2 }, "t", { n = 3 }), { text = "done" } }, {
    t = tool("t", {}, {
      handlers = {
        setup = function(self)
          self.cmds = { ({ stubborn, tree, "setsid sleep 60" })[self.args.n] }
        end,
      },
      opts = { parallel = true },
    }),
  })
  send("go")
end

function M.slow_then_fine()
  open({ answer("slow", {}, "after", {}), { text = "done" } }, {
    slow = tool("slow", { "sleep 60" }, { opts = { timeout = 200 } }),
    after = tool("after", { "echo fine" }),
  })
  send("go")
end

function M.thirty()
  local turn = { tool_calls = {} }
  for i = 1, 30 do
    turn.tool_calls[i] = { name = "t", arguments = { n = i } }
  end
  open({ turn, { text = "done" } }, { t = tool("t", { "true" }) })
  send("go")
end

function M.four_calls()
  open({ answer("t", { s = 60 }, "t", { s = 0 }, "t", { s = 61 }, "t", { s = 62 }), { text = "unused" } }, {
    t = tool("t", { "echo began ${s}; : > up${s}; sleep ${s}" }, {
      env = function(self)
        return { s = self.args.s }
      end,
    }),
  })
  send("go")
end

function M.jobs()
  killed = {}
  run({
    function(_, _, opts)
      process = vim.system(
        { "sh", "-c", "trap '' TERM; : > up; while :; do sleep 1; done" },
        { detach = true },
        function(out)
          killed.signal = out.signal
        end
      )
      opts.register_job(process)
      opts.register_job({
        kill = function(self, signal)
          killed.table = signal
        end,
      })
      opts.register_job(setmetatable(
        {},
        { __index = {
          kill = function()
            error("cannot")
          end,
        } }
      ))
      fault = select(2, pcall(opts.register_job, {}))
      register_later = opts.register_job
    end,
  })
end

function M.twenty_chats()
  chats = {}
  local t = tool("t", { ": > up.${id}; until [ -e go ]; do sleep 1; done; echo out ${id}; echo err ${id} >&2" }, {
    env = function(self)
      return { id = self.args.chat .. "." .. self.args.n }
    end,
    opts = { parallel = true },
  })
  for c = 1, 20 do
    local turn = { tool_calls = {} }
    for n = 1, 10 do
      turn.tool_calls[n] = { name = "t", arguments = { chat = c, n = n } }
    end
    chats[c] = open({ turn, { text = "done" } }, { t = t, opts = { max_parallel = 10 } }, { hidden = true })
    send("go", chats[c])
  end
end

function M.wrong_results()
  local wrong = {}
  for c, one in ipairs(chats) do
    for n, text in ipairs(results(one)) do
      local id = c .. "." .. n
      if text ~= ("out %s\nstderr (exit code 0):\nerr %s\n"):format(id, id) then
        wrong[#wrong + 1] = id .. ": " .. text
      end
    end
    if #results(one) ~= 10 then
      wrong[#wrong + 1] = c .. ": " .. #results(one)
    end
  end
  return table.concat(wrong, "\n")
end

function M.five_hundred()
  theirs, wrong = 0, {}
  vim.api.nvim_create_autocmd("User", {
    pattern = "LatheToolStarted",
    callback = function()
      started = (started or 0) + 1
      local code = started % 7
      vim.system({ "sh", "-c", "exit " .. code }, {}, function(out)
        theirs = theirs + 1
        if out.code ~= code then
          wrong[#wrong + 1] = code .. " became " .. out.code
        end
      end)
    end,
  })
  local turn = { tool_calls = {} }
  for i = 1, 500 do
    turn.tool_calls[i] = { name = "t", arguments = { n = i } }
  end
  open({ turn, { text = "done" } }, {
    t = tool("t", { "exit ${code}" }, {
      env = function(self)
        return { code = self.args.n % 5 }
      end,
      opts = { parallel = true },
    }),
    opts = { max_parallel = 10 },
  })
  send("go")
end

return M
