-- What turns/queue.rs runs in its editor.
-- luacheck: globals deepest exits finish first got job ran second try waiting

local M = {}

function M.reentrant()
  open({ answer("stopper", {}, "never", {}), { text = "unused" } }, {
    stopper = tool("stopper", {
      function(self, _, opts)
        self.chat:submit()
        self.chat:stop()
        opts.output_cb({ status = "success", data = "x" })
        self.chat:stop()
      end,
    }),
    never = tool("never", {
      function()
        ran = true
        return { status = "success", data = 1 }
      end,
    }),
  })
  send("go")
end

function M.ten_thousand()
  ran, deepest = 0, 0
  local turns = { { tool_calls = {} }, { text = "done" } }
  for i = 1, 10000 do
    turns[1].tool_calls[i] = { name = "t", arguments = { n = i } }
  end
  open(turns, {
    t = tool("t", {
      function(_, args)
        ran = ran + 1
        if ran % 1000 == 0 then
          local depth = 0
          while debug.getinfo(depth + 1, "l") do
            depth = depth + 1
          end
          deepest = math.max(deepest, depth)
        end
        return { status = "success", data = args.n }
      end,
    }),
  })
  send("go")
end

function M.parallel()
  finish = {}
  open({ answer("t", { n = 1 }, "t", { n = 2 }, "t", { n = 3 }), { text = "done" } }, {
    t = tool("t", {
      function(_, args, opts)
        finish[args.n] = opts.output_cb
      end,
    }, {
      opts = { parallel = true },
      output = {
        cmd_string = function(self)
          return "number " .. self.args.n
        end,
      },
    }),
  })
  send("go")
end

function M.two_chats()
  waiting = {}
  local function slow(_, args, opts)
    waiting[args.who] = opts.output_cb
  end
  open({ answer("t", { who = "a" }), { text = "a is done" } }, { t = tool("t", { slow }) })
  first = chat
  send("go a", first)
  open({ answer("t", { who = "b" }), { text = "b is done" } }, { t = tool("t", { slow }) })
  second = chat
  send("go b", second)
end

function M.silent()
  job = {
    killed = 0,
    kill = function(self)
      self.killed = self.killed + 1
    end,
  }
  open({ answer("silent", {}, "after", {}), { text = "done" } }, {
    silent = tool("silent", {
      function(_, _, opts)
        opts.register_job(job)
      end,
    }, { opts = { timeout = 100 } }),
    after = tool("after", {
      function()
        return { status = "success", data = "fine" }
      end,
    }),
  })
  send("go")
end

function M.three_waiting()
  exits = 0
  local function wait() end
  local extra = { handlers = {
    on_exit = function()
      exits = exits + 1
    end,
  } }
  open({ answer("one", {}, "two", {}, "three", {}), { text = "unused" } }, {
    one = tool("one", { wait }, extra),
    two = tool("two", { wait }, extra),
    three = tool("three", { wait }, extra),
  })
  send("go")
end

function M.run_tool()
  require("lathe").setup({
    interactions = {
      chat = {
        tools = {
          t = tool("t", {
            function(_, args)
              return { status = "success", data = "got " .. tostring(args.n) }
            end,
          }),
          asks = tool("asks", {
            function()
              return { status = "success", data = "ran" }
            end,
          }, { opts = { require_approval_before = true } }),
        },
      },
    },
  })
  got = {}
  function try(name, args)
    require("lathe").run_tool(name, args, {}, function(result)
      got[#got + 1] = result.status .. ": " .. result.content
    end)
  end
  try("t", { n = 5 })
end

return M
