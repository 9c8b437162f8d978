-- What again.rs runs in its editor.
-- luacheck: globals ran

local M = {}

function M.calls_once()
  ran = 0
  open({
    { tool_calls = { { name = "once", arguments = {} } } },
    { text = "first answer\n\nof two paragraphs" },
    { text = "second answer" },
  }, {
    once = tool("once", {
      function()
        ran = ran + 1
        return { status = "success", data = "done" }
      end,
    }),
  })
  send("go")
end

return M
