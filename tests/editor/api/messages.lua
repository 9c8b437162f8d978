-- What api/messages.rs runs in its editor.
-- luacheck: globals chat order sent

local M = {}

function M.two_turns()
  open(
    {
      {
        reasoning = "thinking",
        text = "calling",
        tool_calls = { { id = "c1", name = "t", arguments = '{"a": 1}' }, { name = "t", arguments = "nonsense" } },
      },
      { text = "done" },
    },
    { t = tool("t", {
      function()
        return { status = "success", data = "ran" }
      end,
    }) },
    { messages = { { role = "system", content = "be brief", opts = { visible = false } } } }
  )
  send("go")
end

function M.shape(n)
  local m = vim.deepcopy(chat.messages[n])
  m._meta = type(m._meta)
  if m.tools and m.tools.calls then
    m.tools.calls[2].id = type(m.tools.calls[2].id)
  end
  if m.tools and m.tools.is_error then
    m.content = type(m.content)
    m.tools.call_id = type(m.tools.call_id)
  end
  return vim.inspect(m, { newline = " ", indent = "" })
end

function M.forging(url)
  local server = { env = { url = url }, schema = { model = { default = "small" } } }
  require("lathe").setup({
    adapters = { http = { fake = require("lathe.adapters").extend("openai_compatible", server) } },
    interactions = {
      chat = {
        adapter = "fake",
        tools = {
          t = tool("t", {
            function(self)
              self.chat.messages[1].content = "forged"
              self.chat.messages[1].role = 5
              table.remove(self.chat.messages)
              return { status = "success", data = "ran" }
            end,
          }),
        },
      },
    },
  })
  chat = require("lathe").chat({ tools = { "t" } })
  send("go")
end

function M.two_forms()
  local function says(name, fn)
    return tool(name, {
      function()
        return { status = "success", data = 1 }
      end,
    }, { output = {
      success = function(self, _, meta)
        fn(meta.tools.chat, self)
      end,
    } })
  end
  open({ answer("a", {}, "b", {}, "c", {}, "d", {}, "e", {}, "f", {}, "g", {}, "h", {}), { text = "done" } }, {
    a = says("a", function(chat, self)
      chat:add_tool_output(self, { content = "model a", display = "user a" })
    end),
    b = says("b", function(chat, self)
      chat:add_tool_output(self, "model b", "user b")
    end),
    c = says("c", function(chat, self)
      chat:add_tool_output(self, "both c")
    end),
    d = says("d", function(chat, self)
      chat:add_tool_output(self, { content = "model d", display = false })
    end),
    e = says("e", function(chat, self)
      chat:add_tool_output(self, "model e", "")
    end),
    f = says("f", function(chat, self)
      chat:add_tool_output(self, { content = { 1, 2 } })
    end),
    g = says("g", function(chat, self)
      chat:add_tool_output(self, { content = "one" })
      chat:add_tool_output(self, { content = "two", display = false })
      chat:add_tool_output(self, "three")
    end),
    h = says("h", function(chat, self)
      chat:add_tool_output(self, { content = "", display = "user h" })
    end),
  })
  send("go")
end

function M.executing()
  order = {}
  local function run(self, args)
    order[#order + 1] = self.tool.name .. (args.n or "")
    if self.tool.name == "outer" then
      self:execute(self.chat, {
        { name = "inner", arguments = { n = 1 } },
        { id = "mine", ["function"] = { name = "inner", arguments = '{"n":2}' } },
      })
    end
    return { status = "success", data = self.tool.name .. (args.n or "") }
  end
  open({ answer("outer", {}, "last", {}), { text = "done" } }, {
    outer = tool("outer", { run }),
    inner = tool("inner", { run }),
    last = tool("last", { run }),
  })
  send("go")
end

function M.from_outside()
  open({ answer("t", {}), { text = "done" } }, {
    t = tool("t", {
      function(self)
        self.chat:add_message({ role = "user", content = "seen" })
        self.chat:add_message({ role = "user", content = "unseen" }, { visible = false })
        self.chat:add_context({ content = "all of a file" }, "file", "a.lua")
        self.chat:add_buf_message({ role = "llm", content = "only shown" })
        return { status = "success", data = "ran" }
      end,
    }),
  })
  send("go")
end

function M.prompts()
  require("lathe").setup({
    adapters = {
      http = {
        fake = require("lathe.adapters").extend("scripted", {
          turns = function(messages)
            sent = vim.list_slice(messages)
            return { text = "done" }
          end,
        }),
      },
    },
    interactions = {
      chat = {
        adapter = "fake",
        system_prompt = function(ctx)
          return "chat prompt of " .. ctx.adapter.name
        end,
        tools = {
          a = tool("a", {}, { system_prompt = "prompt of a" }),
          b = tool("b", {}, {
            system_prompt = function(schema)
              return "prompt of " .. schema["function"].name
            end,
          }),
          c = tool("c", {}, { system_prompt = "prompt of c" }),
          groups = {
            g = { tools = { "a", "b" }, system_prompt = "prompt of the group" },
            quiet = { tools = { "c" }, opts = { ignore_tool_system_prompt = true } },
          },
          opts = { default_tools = { "a" }, system_prompt = { prompt = "about tools" } },
        },
      },
    },
  })
  chat = require("lathe").chat()
  send("Use @{g} and @{quiet} and @{a}")
end

return M
