-- `connect(url)` sets up tools that end, ask, hang and run a command, and a provider; `last()` is the chat.
-- luacheck: globals connect hanging last notes roles

notes = {}
vim.notify = function(text)
  notes[#notes + 1] = text
end
function connect(url, opts)
  vim.env.TEST_PROVIDER_KEY = "sk-test"
  local tools = {
    quick = tool("quick", {
      function(_, args)
        return { status = "success", data = "quick " .. (args.n or "") }
      end,
    }, {
      output = {
        cmd_string = function(self)
          return "number " .. (self.args.n or "none")
        end,
        success = function(self, stdout, meta)
          meta.tools.chat:add_tool_output(self, { content = stdout[#stdout], display = self.args.display })
        end,
      },
    }),
    asks = tool("asks", {
      function()
        vim.fn.writefile({}, "ran")
      end,
    }, { opts = { require_approval_before = true } }),
    hangs = tool("hangs", {
      function()
        hanging = true
      end,
    }),
    command = tool("command", { "touch running; while [ -e running ]; do sleep 0.05; done" }),
  }
  require("lathe").setup(vim.tbl_deep_extend("force", {
    adapters = {
      http = {
        local_server = require("lathe.adapters").extend("openai_compatible", {
          formatted_name = "Local",
          env = { url = url, api_key = "TEST_PROVIDER_KEY" },
          schema = { model = { default = "small" } },
        }),
      },
    },
    interactions = { chat = { adapter = "local_server", tools = tools, system_prompt = "Be brief." } },
  }, opts or {}))
end
function last()
  return require("lathe").last_chat()
end
function roles()
  return table.concat(
    vim.tbl_map(function(message)
      return message.role
    end, last().messages),
    " "
  )
end
