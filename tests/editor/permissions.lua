-- What permissions.rs runs in its editor.
-- luacheck: globals agent chat default folder maker picked plain ran reader rules shell told

local M = {}

-- `rules(permission, more)` sets lathe up; `shell(...)` makes a turn of `run_command` calls. `ran` is what ran.
function M.rules(...)
  ran = {}
  plain = tool("plain", {
    function(self, args)
      ran[#ran + 1] = "plain"
      return { status = "success", data = "done" }
    end,
  })
  reader = tool("reader", {
    function(self, args)
      ran[#ran + 1] = args.path
      return { status = "success", data = "text" }
    end,
  }, {
    permission = {
      key = "read",
      values = function(args)
        return { args.path }
      end,
    },
  })
  function rules(permission, turns, more)
    turns[#turns + 1] = { text = "end" }
    require("lathe").setup(vim.tbl_deep_extend("force", {
      adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = turns }) } },
      interactions = { chat = { adapter = "fake", tools = { plain = plain, reader = reader } } },
      permission = permission,
    }, more or {}))
    chat = require("lathe").chat({ tools = { "plain", "reader", "run_command" }, agent = agent })
  end
  function shell(...)
    local calls = {}
    for i, cmd in ipairs({ ... }) do
      calls[i] = { name = "run_command", arguments = { cmd = cmd } }
    end
    return { tool_calls = calls }
  end
end

function M.pattern()
  picked = {}
  vim.ui.select = function(items, opts, done)
    picked = items
    done(items[2], 2)
  end
  vim.ui.input = function(opts, done)
    default = opts.default
    done("echo *")
  end
  rules({ bash = { ["*"] = "ask" } }, { shell("echo one"), shell("echo two"), shell("ls /") })
  send("go")
end

function M.project_file()
  folder = vim.fn.tempname()
  vim.fn.mkdir(folder, "p")
  vim.cmd.cd(folder)
  vim.fn.writefile({ '{ "permission": { "bash": { "*": "allow" }, "plain": "deny" } }' }, folder .. "/lathe.json")
  rules({ bash = "ask" }, { answer("plain", {}), shell("echo hi"), { text = "first" }, answer("plain", {}) })
  send("go")
end

function M.bad_rule()
  folder = vim.fn.tempname()
  vim.fn.mkdir(folder, "p")
  vim.cmd.cd(folder)
  told = {}
  vim.notify = function(text)
    told[#told + 1] = text
  end
  vim.fn.writefile({ '{ "permission": { "plain": "alow" } }' }, folder .. "/lathe.json")
  rules(nil, { answer("plain", {}), answer("plain", {}) })
  send("go")
end

function M.shell_text()
  maker = tool("maker", { "echo ${name}; touch made" }, {
    env = function(self)
      return { name = self.args.name }
    end,
  })
  rules(
    { bash = { { "*", "allow" }, { "touch *", "deny" } } },
    { answer("maker", { name = "a b; rm x" }) },
    { interactions = { chat = { tools = { maker = maker } } } }
  )
  chat.tool_registry:add("maker")
  send("go")
end

function M.safe_commands()
  local own = { opts = { safe_commands = { "ls / && ls", "ls" } } }
  rules(nil, { shell("ls / && ls"), shell("ls; ls") }, { interactions = { chat = { tools = { run_command = own } } } })
  chat:set_auto(true)
  send("go")
end

function M.secret_in_auto_mode()
  local permission = { plain = "ask", reader = { ["*"] = "allow" }, read = { ["secret*"] = "deny" } }
  rules(permission, { answer("plain", {}, "reader", { path = "secret.txt" }) })
  chat:set_auto(true)
  send("go")
end

return M
