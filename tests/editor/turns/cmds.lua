-- What turns/cmds.rs runs in its editor.
-- luacheck: globals fast late order seen

local M = {}

function M.steps()
  seen = {}
  open({ answer("steps", { n = 1 }), { text = "done" } }, {
    steps = tool("steps", {
      function(self, args, opts)
        seen[1] = { args.n, opts.input == nil, self.tool.name, self.chat == chat, self.bufnr == chat.bufnr }
        return { status = "success", data = "one" }
      end,
      function(_, _, opts)
        seen[2] = opts.input.data
        vim.defer_fn(function()
          opts.output_cb({ status = "success", data = "two" })
        end, 5)
      end,
      function(self, _, opts)
        seen[3] = { opts.input.data, self.stdout[1], #self.stdout }
        return { status = "success", data = { 3 } }
      end,
    }, {
      output = {
        success = function(self, stdout, meta)
          meta.tools.chat:add_tool_output(self, { content = #stdout .. type(stdout[#stdout]), display = false })
        end,
      },
    }),
  })
  send("go")
end

function M.order()
  order = {}
  local function note(name)
    order[#order + 1] = name
  end
  open({ answer("t", { x = 1 }), { text = "done" } }, {
    t = tool("t", {
      function()
        note("cmd")
        return { status = "success", data = 1 }
      end,
    }, {
      env = function(self)
        note("env " .. self.args.x)
        return {}
      end,
      handlers = {
        setup = function(self, meta)
          note("setup " .. self.name .. tostring(meta.tools.chat == chat))
        end,
        on_exit = function(self, meta)
          note("exit " .. self.function_call["function"].name .. tostring(meta.tools.chat == chat))
        end,
      },
      output = {
        success = function(self, _, meta)
          note("success " .. type(meta.cmd))
          meta.tools.chat:add_tool_output(self, { content = "1" })
        end,
      },
    }),
  })
  send("go")
end

function M.without_outputs()
  local function bare(name, cmd, extra)
    local t = tool(name, { cmd })
    t.output = nil
    return vim.tbl_extend("force", t, extra or {})
  end
  open({ answer("good", {}, "bad", {}, "thrown", {}, "asked", {}), { text = "done" } }, {
    good = bare("good", function()
      return { status = "success", data = 1 }
    end),
    bad = bare("bad", function()
      return { status = "error", data = "x" }
    end),
    thrown = bare("thrown", function()
      error("x")
    end),
    asked = bare("asked", function() end, { opts = { require_approval_before = true } }),
  })
  send("go")
end

function M.adds_nothing()
  open({ answer("t", {}), { text = "done" } }, {
    t = tool("t", {
      function()
        return { status = "success", data = 1 }
      end,
    }, {
      output = {
        success = function(self, _, meta)
          vim.schedule(function()
            meta.tools.chat:add_tool_output(self, { content = "late" })
            late = true
          end)
        end,
      },
    }),
  })
  send("go")
end

function M.first_result()
  late = 0
  open({ answer("both", {}, "twice", {}, "thrown", {}, "bad", {}), { text = "done" } }, {
    both = tool("both", {
      function(_, _, opts)
        opts.output_cb({ status = "success", data = "called back" })
        vim.schedule(function()
          opts.output_cb({ status = "error", data = "late" })
          late = late + 1
        end)
        return { status = "error", data = "returned" }
      end,
    }),
    twice = tool("twice", {
      function(_, _, opts)
        vim.schedule(function()
          opts.output_cb({ status = "success", data = "first" })
          opts.output_cb({ status = "error", data = "second" })
          late = late + 1
        end)
      end,
    }),
    thrown = tool("thrown", {
      function(_, _, opts)
        opts.output_cb({ status = "success", data = "before the throw" })
        error("after the result")
      end,
    }),
    bad = tool("bad", {
      function()
        return { status = "ok", data = 1 }
      end,
    }),
  })
  send("go")
end

function M.fast_event()
  open({ answer("t", {}), { text = "done" } }, {
    t = tool("t", {
      function(_, _, opts)
        local timer = vim.uv.new_timer()
        timer:start(1, 0, function()
          timer:close()
          fast = vim.in_fast_event()
          opts.output_cb({ status = "success", data = "from a timer" })
        end)
      end,
    }),
  })
  send("go")
end

return M
