-- What approvals.rs runs in its editor.
-- luacheck: globals approvals asked asked_about asking cases extra go named offered ran shell take_back told turns

local M = {}

-- `asking(name, extra)`: a tool that asks, and notes its runs in `ran`. `calls(n, name, arguments)`: n turns of one call.
function M.asking()
  ran, told = {}, {}
  vim.notify = function(text)
    told[#told + 1] = text
  end
  function asking(name, extra)
    return tool(name, {
      function()
        ran[#ran + 1] = name
        return { status = "success", data = "ran " .. name }
      end,
    }, vim.tbl_deep_extend("force", { opts = { require_approval_before = true } }, extra or {}))
  end
  function asked()
    return count("LatheToolApprovalRequested")
  end
  function approvals()
    local list = require("lathe").approvals()
    return vim
      .iter(list)
      :map(function(a)
        return a.scope .. " " .. a.tool .. " " .. (a.value or "(all)")
      end)
      :totable()
  end
  function take_back(wanted)
    vim.ui.select = function(items, opts, choose)
      for _, item in ipairs(items) do
        local line = opts.format_item(item)
        if line:find(wanted, 1, true) then
          offered = line
          return choose(item)
        end
      end
      error("not offered: " .. wanted)
    end
    vim.cmd("Lathe approvals")
  end
end

function M.in_project()
  local setup = require("lathe").setup
  require("lathe").setup = function(opts)
    setup(vim.tbl_extend("force", opts, { permission_memory = "project" }))
  end
  function go(arguments)
    open({ answer("t", arguments or {}), { text = "done" } }, { t = asking("t", extra) })
    send("go")
  end
end

function M.one_command()
  local one = { opts = { require_cmd_approval = true } }
  named = vim.tbl_extend(
    "force",
    one,
    { output = {
      cmd_string = function(self)
        return "make " .. self.args.what
      end,
    } }
  )
  shell = {
    opts = one.opts,
    cmds = { "printf %s ${word}" },
    env = function(self)
      return { word = self.args.what }
    end,
  }
  local tools = { plain = asking("plain", one), named = asking("named", named), shell = asking("shell", shell) }
  tools.shell.cmds[2] = nil
  turns = {}
  for _, name in ipairs({ "named", "shell", "plain" }) do
    for _, what in ipairs({ "test", "clean", "test" }) do
      turns[#turns + 1] = answer(name, { what = what, also = { b = 1, a = "x" } })
    end
  end
  turns[#turns + 1] = { text = "done" }
  open(turns, tools)
  send("go")
end

function M.star()
  local extra = {
    opts = { require_cmd_approval = true },
    output = {
      cmd_string = function(self)
        return self.args.cmd
      end,
    },
  }
  open({
    answer("t", { cmd = "sed -n 's/a*/b/p' f" }),
    answer("t", { cmd = "sed -n 's/aX/b/w out; s/b/p' f" }),
    answer("t", { cmd = "*" }),
    { text = "done" },
  }, { t = asking("t", extra) })
  send("go")
end

function M.unknown_commands()
  local function extra(cmd_string)
    return { opts = { require_cmd_approval = true }, output = { cmd_string = cmd_string } }
  end
  open({ answer("throws", {}), answer("odd", {}), answer("bytes", {}), answer("empty", {}), { text = "done" } }, {
    throws = asking(
      "throws",
      extra(function()
        error("no label")
      end)
    ),
    odd = asking(
      "odd",
      extra(function()
        return 7
      end)
    ),
    bytes = asking(
      "bytes",
      extra(function()
        return "rm \xff"
      end)
    ),
    empty = asking(
      "empty",
      extra(function()
        return ""
      end)
    ),
  })
  send("go")
end

function M.settings()
  local function t(setting, condition)
    return { opts = { require_approval_before = setting }, handlers = { prompt_condition = condition } }
  end
  local function gives(value)
    return function()
      return value
    end
  end
  local function throws()
    error("no answer")
  end
  -- Name, whether it asks, and the tool.
  cases = {
    { "on", true, t(true, gives(false)) },
    { "off", false, t(false, gives(true)) },
    { "fn_true", true, t(gives(true)) },
    { "fn_false", false, t(gives(false), gives(true)) },
    { "fn_nil", false, t(gives(nil)) },
    { "fn_odd", true, t(gives(0)) },
    { "fn_throws", true, t(throws) },
    { "unset", false, t(nil) },
    { "unset_asks", true, t(nil, gives(true)) },
    { "unset_runs", false, t(nil, gives(false)) },
    { "unset_nil", false, t(nil, gives(nil)) },
    { "unset_odd", true, t(nil, gives("no")) },
    { "unset_throws", true, t(nil, throws) },
    { "table", true, t({ buffer = false }) },
    {
      "table_runs",
      false,
      t({ buffer = false }, function(self)
        return self.opts.require_approval_before.buffer
      end),
    },
    { "text", true, t("yes") },
    { "number", true, t(0) },
    {
      "receives",
      false,
      t(function(self, tools)
        return not (self.args.n == 1 and tools.tool == self and tools.chat == chat)
      end),
    },
    {
      "meets",
      false,
      t({}, function(self, meta)
        return not (self.args.n == 1 and meta.tools.tool == self and meta.tools.chat == chat)
      end),
    },
  }
  local tools, turns = {}, {}
  for i, case in ipairs(cases) do
    local name, _, extra = unpack(case)
    tools[name] = vim.tbl_deep_extend("force", asking(name), { opts = { require_approval_before = vim.NIL } }, extra)
    tools[name].opts.require_approval_before = extra.opts.require_approval_before
    turns[i] = answer(name, { n = 1 })
  end
  turns[#turns + 1] = { text = "done" }
  asked_about = {}
  vim.api.nvim_create_autocmd("User", {
    pattern = "LatheToolApprovalRequested",
    callback = function(args)
      asked_about[args.data.tool] = true
      vim.schedule(function()
        require("lathe.core").lib.answer({ chat = chat.id, call = args.data.id, answer = "accept" })
      end)
    end,
  })
  open(turns, tools)
  send("go")
end

return M
