-- What native/gate.rs runs in its editor.
-- luacheck: globals asked cancelled decision finish waiting

local M = {}

function M.asking_itself(approved)
  serve("s", "t", function(req, res)
    decision, finish = req.caller.auto_approve, function()
      res:text("reviewed"):send()
    end
  end, { needs_confirmation_window = false })
  use({ answer("s__t", {}), { text = "done" } }, { "s" }, { auto_approve = approved, timeout = 30 })
  send("go")
end

function M.reading(approved)
  native.add_resource("s", {
    uri = "x://1",
    handler = function(_, res)
      return res:text("content")
    end,
  })
  local turns = { answer("access_mcp_resource", { server_name = "s", uri = "x://1" }), { text = "done" } }
  use(turns, { "mcp" }, { auto_approve = false, resource_auto_approve = approved })
  send("see #{mcp:x://1}")
end

function M.denied()
  greet()
  asked = {}
  use({ answer("example__greet", { name = "Ann" }), { text = "done" } }, { "example" }, {
    auto_approve = function(call)
      asked[#asked + 1] = call
      return "no private repos"
    end,
    settings = { example = { autoApprove = true } },
  })
  send("go")
end

function M.two_servers()
  greet()
  serve("free", "t", function()
    return "ran"
  end)
  use({ answer("example__greet", { name = "Ann" }, "free__t", {}), { text = "done" } }, { "example", "free" }, {
    auto_approve = false,
    settings = { free = { autoApprove = true } },
  })
  send("go")
end

function M.by_name()
  greet()
  serve("example", "waits", function(req)
    req.signal.on_cancel(function()
      cancelled = true
    end)
    waiting = true
  end)
  local function by_name(tool, input)
    return { server_name = "example", tool_name = tool, tool_input = input }
  end
  use({
    answer(
      "use_mcp_tool",
      by_name("greet", { name = "Ann" }),
      "use_mcp_tool",
      by_name("greet", { name = 7 }),
      "use_mcp_tool",
      by_name("waits", {})
    ),
    { text = "done" },
  }, { "mcp" }, { auto_approve = false, settings = { example = { autoApprove = { "waits" } } } })
  send("go")
end

return M
