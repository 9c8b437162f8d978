-- What hostile.rs runs in its editor.
-- luacheck: globals events exits many old ran stuck told

local M = {}

function M.nul_bytes()
  open({ answer("t", {}, ("n\0"):rep(300), {}), { text = "done" } }, {
    t = tool("t", {
      function()
        return { status = "success", data = "ran" }
      end,
    }, {
      output = {
        cmd_string = function()
          return ("é\0"):rep(300)
        end,
      },
    }),
  })
  send("go")
end

function M.hostile_arguments()
  many = {}
  for i = 1, 2000 do
    many["k" .. i] = i
  end
  local function asking(name, prompt)
    return tool(name, {
      function()
        return { status = "success", data = name }
      end,
    }, {
      opts = { require_approval_before = true },
      output = { prompt = prompt },
    })
  end
  open({
    answer("newline", { ["a\nb"] = 1 }, "wide", { a = ("é"):rep(1e6) }, "many", many, "prompt", {}),
    { text = "done" },
  }, {
    newline = asking("newline"),
    wide = asking("wide"),
    many = asking("many"),
    prompt = asking("prompt", function()
      return ("line\n"):rep(300)
    end),
  })
  send("go")
end

function M.traps()
  local function trap()
    return setmetatable({}, {
      __index = function()
        error("trapped")
      end,
    })
  end
  open({ answer("returned", {}, "called", {}, "later", {}), { text = "done" } }, {
    returned = tool("returned", {
      function()
        return trap()
      end,
    }),
    called = tool("called", {
      function(_, _, opts)
        opts.output_cb(trap())
      end,
    }),
    later = tool("later", {
      function(_, _, opts)
        vim.schedule(function()
          opts.output_cb(trap())
        end)
      end,
    }),
  })
  send("go")
end

function M.unmodifiable()
  open({ answer("t", {}), { text = "done" } }, {
    t = tool("t", {
      function()
        return { status = "success", data = "ran" }
      end,
    }),
  })
  vim.bo[chat.bufnr].modifiable, vim.bo[chat.bufnr].readonly = false, true
  send("go")
end

function M.asking()
  open({ answer("t", {}), { text = "done" } }, {
    t = tool("t", {
      function()
        return { status = "success", data = "ran" }
      end,
    }, {
      opts = { require_approval_before = true },
    }),
  })
  send("go")
end

function M.failing_write()
  local set_lines = vim.api.nvim_buf_set_lines
  open({ { text = "lost" }, { text = "shown" } }, {})
  vim.api.nvim_create_autocmd("User", {
    pattern = "LatheRequestFinished",
    once = true,
    callback = function()
      vim.api.nvim_buf_set_lines = function()
        vim.api.nvim_buf_set_lines = set_lines
        error("refused")
      end
    end,
  })
  send("go")
end

function M.taking_apart()
  exits = {}
  local function apart(name, setup, cmd)
    return tool(name, {
      function(self)
        if cmd then
          cmd(self)
        end
        return { status = "success", data = name }
      end,
    }, {
      handlers = {
        setup = setup,
        on_exit = function()
          exits[#exits + 1] = name
        end,
      },
    })
  end
  open({ answer("options", {}, "cmds", {}, "handlers", {}, "output", {}, "view", {}), { text = "done" } }, {
    options = apart("options", function(self)
      self.opts = nil
    end),
    cmds = apart("cmds", function(self)
      self.cmds, self.handlers = nil, nil
    end),
    handlers = apart("handlers", nil, function(self)
      self.tool.handlers = nil
    end),
    output = apart("output", nil, function(self)
      self.tool.output = 5
    end),
    view = apart("view", nil, function(self)
      self.stdout, self.stderr = nil, 5
    end),
  })
  send("go")
end

function M.throwing_listeners()
  vim.o.messagesopt = "wait:0,history:500" -- Neovim shows what a listener throws
  vim.notify = function()
    error("no notify")
  end
  vim.api.nvim_create_autocmd("User", {
    pattern = "Lathe*",
    callback = function(args)
      error(args.match)
    end,
  })
  open({ answer("t", {}, "nope", {}), { text = "done" } }, {
    t = tool("t", {
      function()
        return { status = "success", data = "ran" }
      end,
    }),
  })
  send("go @{nothing}")
  require("lathe").run_tool("t", {}, {}, function(result)
    ran = result.content
    error("callback")
  end)
end

function M.endless_schemas()
  local defs = { d40 = { type = "string" } }
  for i = 0, 39 do
    local next_one = { ["$ref"] = "#/$defs/d" .. (i + 1) }
    defs["d" .. i] = { anyOf = { next_one, next_one } }
  end
  local endless = tool("endless", { function() end })
  endless.schema["function"].parameters = { ["$ref"] = "#/$defs/d0", ["$defs"] = defs }
  local tools = {
    endless = endless,
    t = tool("t", {
      function()
        return { status = "success", data = "ran" }
      end,
    }),
  }
  stuck = {}
  for i = 1, 3 do
    stuck[i] = open({ answer("endless", {}), { text = "done" } }, tools)
    send("go")
  end
  open({ answer("t", {}), { text = "done" } }, tools)
  send("go")
end

function M.odd_limits()
  local function limited(name, timeout)
    return tool(name, {
      function()
        return { status = "success", data = name }
      end,
    }, { opts = { timeout = timeout } })
  end
  open({ answer("half", {}, "huge", {}), { text = "done" } }, {
    half = limited("half", 1000.5),
    huge = limited("huge", math.huge),
  })
  send("go")
end

function M.failing_mentions()
  vim.notify = function(text)
    told = text
  end
  open({ { text = "done" } }, {}, { tools = {} })
  -- No configuration is known that does it: setup() refuses what would.
  require("lathe.tools.mentions").replace = function()
    error("unforeseen")
  end
  send("use @{g} now")
end

function M.no_room()
  vim.o.winminwidth = 10
  while pcall(vim.cmd, "vsplit") do
  end
  open({}, {
    t = tool("t", {
      function()
        return { status = "success", data = "ran" }
      end,
    }, {
      opts = { require_approval_before = true },
    }),
  })
  chat:close()
  require("lathe").run_tool("t", {}, {}, function(result)
    ran = result.content
  end)
end

function M.fast_event()
  open(
    { { text = "done" } },
    { t = tool("t", {
      function()
        return { status = "success", data = "ran" }
      end,
    }) }
  )
  local timer = vim.uv.new_timer()
  timer:start(1, 0, function()
    timer:close()
    assert(vim.in_fast_event())
    chat:notice("noticed")
    chat:add_context({ content = "known" }, "fast", "context")
    chat:add_buf_message({ role = "user", content = "typed" })
    chat:submit()
    require("lathe").run_tool("t", {}, {}, function(result)
      ran = result.content
    end)
  end)
end

function M.reloaded(with_library)
  local callback
  open({ answer("t", {}, "w", {}), { text = "done" } }, {
    t = tool("t", {
      function(_, _, opts)
        callback = opts.output_cb
      end,
    }, { opts = { parallel = true } }),
    w = tool("w", { { "sleep 60" } }, { opts = { parallel = true } }),
  })
  send("go")
  assert(vim.wait(15000, function()
    return callback and require("lathe.core").lib.counts().commands == 1
  end))
  for name in pairs(package.loaded) do
    if name:find("^lathe[.]") or name == "lathe" or (with_library and name == "lathe_core") then
      package.loaded[name] = nil
    end
  end
  old = chat
  events = {}
  open({ { text = "fresh" } }, {})
  callback({ status = "success", data = "late" })
  send("hi")
end

function M.two_asking()
  vim.notify = function(text)
    told = text
  end
  open({ answer("t", { n = 1 }, "t", { n = 2 }), { text = "done" } }, {
    t = tool("t", {
      function(_, args)
        return { status = "success", data = "ran " .. args.n }
      end,
    }, {
      opts = { require_approval_before = true },
    }),
  })
  send("go")
end

function M.accepting_early()
  local accept = require("lathe.chat.actions").accept
  vim.api.nvim_create_autocmd("User", {
    pattern = "LatheToolApprovalRequested",
    callback = function()
      accept(chat)
    end,
  })
  accept(chat)
end

return M
