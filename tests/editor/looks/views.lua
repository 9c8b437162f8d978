-- What looks/views.rs runs in its editor.
-- luacheck: globals go_on told

local M = {}

function M.two_calls()
  open({
    {
      reasoning = "one\ntwo",
      tool_calls = { { name = "long", arguments = { a = "x" } }, { name = "short", arguments = { b = { 1, 2 } } } },
    },
    { error = "broken" },
  }, {
    long = said("long", lines(3000)),
    short = tool("short", {
      function()
        return { status = "error", data = "bad" }
      end,
    }, {
      output = {
        error = function(self, stderr, meta)
          meta.tools.chat:add_tool_output(self, { content = "for the model", display = "for the user" })
        end,
      },
    }),
  })
  send("go")
end

function M.code_blocks()
  open({
    {
      text = "First:\n\n```lua\nlocal a = 1\n\nreturn a\n```\n\n- item\n\n  ~~~~\n  ```\n  indented\n  ~~~~\n\nend",
      tool_calls = { { name = "t", arguments = {} } },
    },
    { text = "after" },
  }, { t = said("t", "```\nof the tool\n```\n~~~") })
  told = {}
  vim.notify = function(text)
    told[#told + 1] = text
  end
  send("go")
end

function M.two_long_results()
  open({ answer("t", {}, "t", {}), { text = "end" } }, {
    t = tool("t", {
      function(_, _, opts)
        go_on = opts.output_cb
      end,
    }),
  })
  send("go")
end

function M.many_turns()
  local turns = {}
  for i = 1, 40 do
    turns[i] = answer("t", { n = i })
  end
  turns[41] = { text = "end" }
  open(
    turns,
    { t = tool("t", {
      function()
        return { status = "success", data = ("r"):rep(3000) }
      end,
    }) }
  )
  send("go")
end

return M
