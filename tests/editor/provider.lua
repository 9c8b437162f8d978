-- What provider.rs runs in its editor.
-- luacheck: globals asked calculator chat environment notes one two

local M = {}

function M.configure(url, key)
  vim.env.TEST_PROVIDER_KEY = key
  vim.notify = function(text)
    notes = (notes or "") .. text .. "\n"
  end
  dofile(vim.api.nvim_get_runtime_file("examples/calculator.lua", false)[1])
  calculator = vim.deepcopy(require("lathe.config").get().interactions.chat.tools.calculator)
  require("lathe").setup({
    adapters = {
      http = {
        local_server = require("lathe.adapters").extend("openai_compatible", {
          formatted_name = "Local",
          env = { url = url, api_key = "TEST_PROVIDER_KEY" },
          schema = { model = { default = "small" } },
          opts = { limits = {} },
        }),
      },
    },
    interactions = { chat = { adapter = "local_server", tools = { calculator = calculator } } },
  })
  vim.cmd("Lathe chat")
  chat = require("lathe").last_chat()
end

function M.hook()
  chat.adapter.opts.stream = false
  chat.adapter.handlers = {
    request = {
      build_tools = function(self, args)
        local transformed = {}
        for _, tool in pairs(args.tools) do
          for _, schema in pairs(tool) do
            transformed[#transformed + 1] = { type = "function", name = schema["function"].name, by = self.name }
          end
        end
        return { tools = transformed }
      end,
    },
  }
end

function M.shell_tool()
  require("lathe").register_tool("shell", {
    name = "shell",
    description = "env",
    cmds = { "env" },
    schema = { type = "function", ["function"] = { name = "shell", parameters = { type = "object" } } },
    output = {
      success = function(self, stdout, meta)
        environment = tostring(stdout[#stdout])
        meta.tools.chat:add_tool_output(self, { content = environment })
      end,
    },
  })
  chat.tool_registry:add("shell")
end

function M.places()
  local log = io.open(require("lathe.log").path)
  return table.concat({
    log and log:read("*a") or "",
    vim.inspect(chat),
    environment,
    notes or "",
    table.concat(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false), "\n"),
  }, "\n")
end

function M.own_copies()
  local base = require("lathe.adapters").extend("openai", {
    headers = { Beta = "" },
    opts = { limits = { idle_ms = 5 } },
    url = "http://127.0.0.1:1/",
    env = { api_key = "plain key" },
  })
  require("lathe").setup({ adapters = { http = { mine = base } }, interactions = { chat = { adapter = "mine" } } })
  local default = base.schema.model.default
  one, two = require("lathe").chat(), require("lathe").chat()
  one.adapter.headers.Beta = "memory"
  one.adapter.opts.limits.idle_ms = 7
  one.adapter.schema.model.default = "other"
  assert(base.headers.Beta == "" and two.adapter.headers.Beta == "", "headers")
  assert(base.opts.limits.idle_ms == 5 and two.adapter.opts.limits.idle_ms == 5, "opts")
  assert(base.schema.model.default == default and two.adapter.schema.model.default == default, "schema")
end

function M.asked_for_keys()
  asked = 0
  vim.env.MINE_API_KEY = "k"
  local adapters = require("lathe.adapters")
  local function mine()
    asked = asked + 1
    if asked == 1 then
      error("not yet")
    end
    return { wire = "openai", env = { api_key = "MINE_API_KEY" } }
  end
  require("lathe").setup({ adapters = { http = { mine = mine } } })
  local function hidden(keep)
    return vim.list_contains(adapters.key_variables(nil, keep or {}), "MINE_API_KEY")
  end
  assert(not hidden(), "it failed")
  for _ = 1, 10 do
    assert(hidden(), "it is asked again")
  end
  assert(asked == 2, asked)
  assert(not hidden({ "MINE_API_KEY" }) and hidden(), "keep changes nothing for others")
  adapters.register("other", { wire = "openai", env = { api_key = "OTHER_API_KEY" } })
  assert(vim.list_contains(adapters.key_variables(nil, {}), "OTHER_API_KEY"), "registered later")
  require("lathe").setup({})
  assert(not hidden(), "another setup")
end

return M
