-- What api/life.rs runs in its editor.
-- luacheck: globals chat running sent started

local M = {}

function M.held_call()
  chat:submit()
  chat:stop()
  chat:skip()
  chat:clear()
  chat:add_message({ role = "user", content = "x" })
  chat:open()
  chat:hide()
  chat:add_buf_message({ role = "user", content = "x" })
  chat:add_buf_message({ role = "llm", content = "x" })
  chat:add_context({ content = "x" })
  chat:add_tool_output({}, "x")
  chat:close()
  chat:is_visible()
  chat.tools:execute(chat, { { name = "t" } })
  chat.tool_registry:add("t")
end

function M.at_point(point)
  local first = point == "streaming" and { text = "old text", hang = true }
    or point == "idle" and { text = "old text" }
    or answer("t", {})
  open({ first, { text = "fresh" } }, {
    t = tool("t", {
      function()
        running = true
      end,
    }, { opts = { require_approval_before = point == "asking" } }),
  })
  send("old message")
end

function M.stopping_at(point)
  local function at(name, value)
    return function(self, _, meta)
      if name == point then
        chat:stop()
      end
      if name == "success" then
        meta.tools.chat:add_tool_output(self, { content = "x" })
      end
      return value
    end
  end
  local turns =
    { answer("t", {}, "t", { n = 2 }), { text = "second", hang = point == "second request" }, { text = "again" } }
  if point == "delayed" then
    turns = { { text = "never", delay_ms = 3600000 }, { text = "again" } }
  end
  if point == "streaming" then
    turns = { { reasoning = "hm", chunks = { "half ", "an answer" }, hang = true }, { text = "again" } }
  end
  open({}, {
    t = tool("t", { at("cmd", point ~= "running" and { status = "success", data = 1 } or nil) }, {
      handlers = { setup = at("setup"), on_exit = at("on_exit") },
      output = { success = at("success") },
      opts = { require_approval_before = point == "asking" },
    }),
  })
  local left = turns
  chat.adapter.turns = function(messages)
    if messages[#messages].content == "again?" then
      return { text = "again" }
    end
    return table.remove(left, 1)
  end
  send("go")
end

function M.asking()
  open({}, {
    t = tool("t", {
      function(_, args)
        return { status = "success", data = "ran " .. args.n }
      end,
    }, { opts = { require_approval_before = true } }),
  })
  local turns = { answer("t", { n = 1 }, "t", { n = 2 }), answer("t", { n = 3 }), { text = "fine" } }
  sent = {}
  chat.adapter.turns = function(messages)
    sent[#sent + 1] = paired()
    return table.remove(turns, 1)
  end
  send("go")
end

function M.two_outcomes()
  open({ answer("good", {}), answer("bad", {}), { text = "after the error" }, { text = "the end" } }, {
    good = tool("good", {
      function()
        return { status = "success", data = "ran" }
      end,
    }),
    bad = tool("bad", {
      function()
        return { status = "error", data = "no" }
      end,
    }),
    opts = { auto_submit_success = true, auto_submit_errors = false },
  })
  send("go")
end

function M.without_chat()
  vim.o.messagesopt = "wait:1,history:500" -- the result has several lines, like any list that one asks for
  require("lathe").setup({
    interactions = {
      chat = {
        tools = {
          slow = tool("slow", {
            function()
              started = true
            end,
          }),
        },
      },
    },
  })
end

return M
