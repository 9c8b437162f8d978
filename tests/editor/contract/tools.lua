-- What contract/tools.rs runs in its editor.
-- luacheck: globals registry says seen told

local M = {}

local function made(name)
  return tool(name, {
    function()
      return { status = "success", data = name .. " ran" }
    end,
  })
end

function M.four_places()
  vim.opt.runtimepath:append(vim.fn.stdpath("config"))
  open({ answer("inline", {}, "module", {}, "file", {}, "called", {}), { text = "done" } }, {
    inline = made("inline"),
    module = { path = "mine.module" },
    file = { path = "~/file.lua" },
    called = {
      callback = function()
        return made("called")
      end,
    },
  })
  send("go")
end

function M.two_calls()
  local t = tool("t", {
    function(self)
      seen[#seen + 1] = { self.tool.args, self.tool.function_call }
      return { status = "success", data = 1 }
    end,
  })
  seen = {}
  open({
    {
      tool_calls = {
        { id = "a", name = "t", arguments = { n = 1 } },
        { id = "b", name = "t", arguments = '{"n":2}' },
      },
    },
    { text = "done" },
  }, { t = t })
  send("go")
end

function M.merged_options()
  local function with_options(name, own)
    return tool(name, {
      function(self)
        return { status = "success", data = vim.inspect(self.tool.opts, { newline = "", indent = "" }) }
      end,
    }, { opts = own })
  end
  open({ answer("t", {}), { text = "done" } }, {
    t = {
      callback = function()
        return with_options("t", { require_approval_before = true, timeout = 5000, own = 1 })
      end,
      opts = { require_approval_before = false, timeout = 7000 },
    },
  })
  send("go")
end

function M.replaceable()
  function says(text)
    return tool("late", {
      function()
        return { status = "success", data = text }
      end,
    })
  end
  open({ answer("late", {}), { text = "one" }, answer("late", {}), { text = "two" } }, {})
  require("lathe").register_tool("late", says("first"))
end

function M.states()
  local function with(name, enabled)
    local t = tool(name, {})
    t.enabled = enabled
    return t
  end
  open({}, {
    offered = tool("offered", {}),
    idle = tool("idle", {}),
    off = with("off", false),
    picky = with("picky", function(adapter)
      return adapter.name == "other"
    end),
    fails = with("fails", function()
      error("thrown")
    end),
    faulty = { path = "no.such.module" },
    run_command = false,
    groups = {
      both = { description = "Two of them", tools = { "offered", "idle" } },
      apart = { tools = { "idle" }, opts = { collapse_tools = false } },
    },
  }, { tools = { "offered" } })
  told = {}
end

function M.registry()
  open(
    { answer("t", {}), { text = "done" } },
    { t = tool("t", { { cmd = "true", flag = "tested" } }), groups = { g = { tools = { "t" } } } },
    { tools = { "g" } }
  )
  registry = chat.tool_registry
  registry.schemas.t["function"].name = "forged"
  send("go")
end

return M
