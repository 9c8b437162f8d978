-- What native/listing.rs runs in its editor.
-- luacheck: globals bad chat events options reads tools

local M = {}

function M.provided(url, names)
  require("lathe").setup({
    adapters = {
      http = {
        here = require("lathe.adapters").extend("openai_compatible", {
          env = { url = url, api_key = "plain key" },
          schema = { model = { default = "small" } },
        }),
      },
    },
    interactions = { chat = { adapter = "here", tools = tools } },
    native = vim.tbl_extend("force", { auto_approve = true }, options or {}),
  })
  chat = require("lathe").chat({ tools = names })
end

function M.counting_description()
  reads = 0
  serve("files", "search", print, {
    description = function(def)
      reads = reads + 1
      return ("%s: %d buffers"):format(def.name, #vim.api.nvim_list_bufs())
    end,
  })
end

function M.failing_schemas()
  bad = false
  serve("s", "first", print, {
    inputSchema = function()
      error("no schema")
    end,
  })
  serve("s", "later", print, {
    inputSchema = function()
      if bad then
        return bad
      end
      return { type = "object", properties = { x = { type = "string" } } }
    end,
  })
  serve("other", "t", print)
end

function M.one_safe_name()
  serve("a-b", "t", function()
    return "first"
  end)
  serve("a_b", "t", function()
    return "second"
  end)
  serve("a-b", "x.y", print)
  serve("a-b", "x y", print)
  use({ answer("a_b__t", {}, "a_b_1__t", {}), { text = "done" } }, { "a_b", "a_b_1" })
  send("go")
end

function M.own_tool()
  serve("neovim", "read_file", function()
    return "native"
  end)
  use({ answer("neovim__read_file", {}), { text = "done" }, { text = "again" } }, {})
  require("lathe").register_tool(
    "neovim__read_file",
    tool("neovim__read_file", {
      function()
        return { status = "success", data = "own" }
      end,
    })
  )
  send("@{neovim} @{neovim__read_file}")
end

function M.mcp_group()
  greet()
  native.add_resource("example", {
    uri = "x://1",
    handler = function(_, res)
      return res:text("content")
    end,
  })
  use({
    answer(
      "use_mcp_tool",
      { server_name = "example", tool_name = "greet", tool_input = { name = "Ann" } },
      "use_mcp_tool",
      { server_name = "example", tool_name = "greet", tool_input = '{"name":"Bob"}' },
      "use_mcp_tool",
      { server_name = "example", tool_name = "greet", tool_input = '{"name":' },
      "use_mcp_tool",
      { server_name = "example", tool_name = "greet", tool_input = { name = 7 } },
      "use_mcp_tool",
      { server_name = "example", tool_name = "gret" },
      "use_mcp_tool",
      { server_name = "exmple", tool_name = "greet" },
      "access_mcp_resource",
      { server_name = "example", uri = "x://1" },
      "access_mcp_resource",
      { server_name = "example", uri = "x://2" }
    ),
    { text = "done" },
  }, {})
  send("@{mcp} go")
end

function M.two_tools()
  local before = require("lathe.config").get()
  require("lathe").setup({
    adapters = before.adapters,
    interactions = { chat = { adapter = "here" } },
    native = { auto_approve = true },
    permission = { s__t = "deny" },
  })
  send("go")
end

function M.denied_by_name()
  events = {}
  require("lathe").setup({
    adapters = {
      http = {
        fake = require("lathe.adapters").extend("scripted", {
          turns = {
            answer("use_mcp_tool", { server_name = "s", tool_name = "t" }, "s__t", {}),
            { text = "done" },
          },
        }),
      },
    },
    interactions = { chat = { adapter = "fake" } },
    native = { auto_approve = true },
    permission = { s__t = "deny" },
  })
  chat = require("lathe").chat({ tools = { "mcp" } })
  send("go")
end

return M
