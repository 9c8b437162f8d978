-- What contract/calls.rs runs in its editor.
-- luacheck: globals ended_by events got job log note run

local M = {}

-- `run(tool, arguments)`: a chat whose model calls the tool `t` once.
function M.noting(...)
  log = {}
  function note(...)
    log[#log + 1] = table.concat(vim.tbl_map(tostring, { ... }), " ")
  end
  function run(t, arguments, opts)
    events, log = {}, {}
    open({ answer("t", arguments or {}), { text = "done" } }, { t = t, opts = opts })
    send("go")
  end
end

function M.copy_for_env()
  local t = tool("t", { { "echo", "${word}", "in ${place}" } }, {
    env = function(tool)
      note(tool.name, tool.args.word, tool.function_call["function"].name)
      tool.mark = "the copy's"
      return { word = tool.args.word, place = "x;y" }
    end,
  })
  run(t, { word = "two  words" })
end

function M.two_functions()
  run(
    tool("t", {
      function(self, args, opts)
        note(
          self.tool.name,
          self.chat == chat,
          args.n,
          args == self.tool.args,
          tostring(opts.input),
          type(opts.output_cb),
          type(opts.register_job)
        )
        return { status = "success", data = { "any", "value" } }
      end,
      function(self, args, opts)
        return { status = "success", data = opts.input.data[2] .. opts.input.status }
      end,
    }),
    { n = 5 }
  )
end

function M.later()
  run(tool("t", {
    function(self, args, opts)
      vim.system({ "true" }, {}, function() -- outside the main loop
        opts.output_cb({ status = "success", data = "first" })
        opts.output_cb({ status = "error", data = "second" })
      end)
    end,
    function(_, _, opts)
      return { status = "success", data = "after " .. opts.input.data }
    end,
  }))
end

function M.job()
  run(tool("t", {
    function(self, args, opts)
      job = vim.system({ "sleep", "600" }, {}, function(out)
        ended_by = out.signal
      end)
      opts.register_job(job)
    end,
  }))
end

function M.numbers_as_text()
  local t = tool("t", {
    function(_, args)
      return { status = "success", data = type(args.n) .. tonumber(args.n) }
    end,
  })
  t.schema["function"].parameters = { type = "object", properties = { n = { type = "integer" } }, required = { "n" } }
  run(t, { n = "42" })
end

function M.handlers()
  local function seen(what)
    return function(self, meta)
      note(what, self.name, self.args.n, meta.tools.chat == chat, meta.tools.tool == self)
    end
  end
  run(
    tool("t", {
      function()
        note("cmd")
        return { status = "success", data = 1 }
      end,
    }, {
      handlers = { setup = seen("setup"), prompt_condition = seen("prompt_condition"), on_exit = seen("on_exit") },
    }),
    { n = 5 }
  )
end

function M.before_the_question()
  run(tool("t", {
    function()
      note("cmd")
      return { status = "success", data = 1 }
    end,
  }, {
    handlers = {
      setup = function(self)
        note("setup")
        self.word = "set up"
      end,
      on_exit = function()
        note("on_exit")
      end,
    },
    output = {
      prompt = function(self)
        note("prompt")
        return "It is " .. self.word .. "?"
      end,
    },
    opts = { require_approval_before = true },
  }))
end

function M.queue()
  open({ answer("t", { n = 1 }, "t", { n = 2 }, "t", { n = 3 }), { text = "done" } }, {
    t = tool("t", {
      function(_, args, opts)
        note("start", args.n)
        vim.defer_fn(function()
          note("end", args.n)
          opts.output_cb({ status = "success", data = args.n })
        end, 10 - 3 * args.n)
      end,
    }),
  })
  send("go")
end

function M.run_tool()
  require("lathe").setup({
    interactions = {
      chat = {
        tools = {
          t = tool("t", { "cat ${name}" }, {
            env = function(tool)
              return { name = tool.args.name }
            end,
            handlers = {
              setup = function()
                note("setup")
              end,
              on_exit = function()
                note("on_exit")
              end,
            },
          }),
        },
      },
    },
  })
  require("lathe").run_tool("t", { name = "data" }, {}, function(result)
    got = result
  end)
end

---@param cmd string code of the only entry of cmds
function M.noting_exit(cmd)
  local function speaks(self, _, meta)
    note("output")
    meta.tools.chat:add_tool_output(self, "x")
  end
  run(tool("t", { assert(load("return " .. cmd))() }, {
    handlers = {
      on_exit = function()
        note("on_exit")
      end,
    },
    output = {
      success = speaks,
      error = speaks,
      cancelled = function()
        note("output")
      end,
    },
  }))
end

return M
