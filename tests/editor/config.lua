-- What config.rs runs in its editor.
-- luacheck: globals all_told chat found loaded ok times told why wrong

local M = {}

---@param options string code of options of setup()
function M.senseless(options)
  options = assert(load("return {" .. options .. "}"))()
  ok, why = pcall(function()
    require("lathe").setup(vim.tbl_deep_extend("keep", options, {
      adapters = {
        http = {
          fake = require("lathe.adapters").extend("scripted", { turns = { answer("t", {}), { text = "done" } } }),
        },
      },
      interactions = {
        chat = {
          adapter = "fake",
          tools = {
            t = tool("t", {
              function()
                return { status = "success", data = "ran" }
              end,
            }),
          },
        },
      },
    }))
    chat = require("lathe").chat({ tools = { "t", "g", "h" } })
    vim.api.nvim_feedkeys(vim.keycode("g?"), "xt", false)
    send("go @g @h")
  end)
end

---@param entry string code of the entry of the tool `x`
function M.wrong_tool(entry)
  open({ answer("t", {}), { text = "done" } }, {
    x = assert(load("return " .. entry))(),
    t = tool("t", {
      function()
        return { status = "success", data = "ran" }
      end,
    }),
  }, { tools = {} })
  send("Use @{x} and @{t} and @x")
end

---What the files of tools call: `found(name, from)` notes that they were loaded, and is their tool.
function M.found()
  function found(name, from)
    loaded = (loaded or "") .. from .. " "
    return {
      name = name,
      cmds = {
        function()
          return { status = "success", data = from }
        end,
      },
      schema = { type = "function", ["function"] = { name = name } },
      output = {
        success = function(self, stdout, meta)
          meta.tools.chat:add_tool_output(self, { content = stdout[1] })
        end,
      },
    }
  end
end

-- `told`: what the user was told. `lathe_setup(chat, more)`: options with a scripted provider that calls `calls`.
function M.listen()
  told = {}
  vim.notify = function(text)
    told[#told + 1] = text
  end
  function all_told()
    return table.concat(told, "\n")
  end
  function times(text)
    return select(2, all_told():gsub(vim.pesc(text), ""))
  end
end

function M.wrong_options()
  require("lathe").setup({
    adapters = {
      http = {
        fake = require("lathe.adapters").extend("scripted", { turns = { answer("t", {}), { text = "done" } } }),
        bad = 5,
      },
    },
    colour = "red",
    interactions = {
      chat = {
        adapter = "fake",
        roles = { user = "Ich", llm = 5 },
        sytem_prompt = "x",
        keymaps = { send = "x", teleport = { modes = { n = "gz" } } },
        tools = {
          t = tool("t", {
            function()
              return { status = "success", data = "ran" }
            end,
          }),
          broken = "calculator",
          opts = { auto_submit_errors = "yes", max_parallel = "4", timeout = "x", default_tools = "t" },
          groups = { g = "t" },
        },
      },
    },
    permission = 5,
    display = { chat = { window = { width = "wide", layout = "vertical" } }, icons = 5 },
    tool_output = { max_lines = {} },
  })
end

function M.lists()
  require("lathe").setup({
    adapters = { http = { { name = "x" } } },
    interactions = { chat = { tools = { { name = "x" }, fine = tool("fine", {}), groups = { { tools = {} } } } } },
  })
end

function M.bad_schema()
  local function with(parameters)
    local t = tool("x", {
      function()
        wrong = true
        return { status = "success", data = 1 }
      end,
    })
    t.schema["function"].parameters = parameters
    return t
  end
  open({ answer("x", { a = 1 }, "t", {}), { text = "done" } }, {
    x = with({ type = "nonsense", properties = 5 }),
    t = tool("t", {
      function()
        return { status = "success", data = "ran" }
      end,
    }),
  })
  send("go")
end

function M.many_places(repository, home)
  vim.cmd.cd(repository)
  vim.opt.runtimepath:append(vim.fn.stdpath("config"))
  vim.opt.runtimepath:append(".")
  vim.opt.runtimepath:append("")
  open({ answer("module", {}, "relative", {}, "absolute", {}, "tilde", {}, "called", {}), { text = "done" } }, {
    module = { path = "mine.module" },
    relative = { path = "tools/relative.lua" },
    absolute = { path = home .. "/absolute.lua" },
    tilde = { path = "~/tilde.lua" },
    called = {
      callback = function()
        return tool("called", {
          function()
            return { status = "success", data = "called" }
          end,
        })
      end,
    },
    trap = { path = "trap" },
    trap2 = { path = "traps.a" },
    trap3 = { path = "trap.lua" },
    trap4 = { path = "./trap.lua" },
    trap5 = { path = "lua/trap.lua" },
    trap6 = { path = "traps" },
    trap7 = { callback = "trap" },
  })
  send("go")
end

function M.disabled()
  local function with(name, enabled)
    return vim.tbl_extend(
      "force",
      tool(name, {
        function()
          return { status = "success", data = name }
        end,
      }),
      { enabled = enabled }
    )
  end
  open({ answer("on", {}, "off", {}, "picky", {}, "broken", {}), { text = "done" } }, {
    on = with("on", function(adapter)
      return adapter.name == "fake"
    end),
    off = with("off", false),
    picky = with("picky", function()
      return nil
    end),
    broken = with("broken", function()
      error("thrown")
    end),
  })
  send("go")
end

return M
