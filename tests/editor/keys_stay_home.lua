-- What keys_stay_home.rs runs in its editor.
-- luacheck: globals chat environment events talk url

local M = {}

-- `talk(adapter, opts)`: a chat with this adapter, of which a model at `url` calls the tool `shell`, which is `env`; its
-- output is `environment`. More adapters are configured as `more`.
function M.talk()
  function talk(adapter, more, keep)
    environment, events = nil, {}
    if chat then
      chat:close()
    end
    local extend = require("lathe.adapters").extend
    adapter = vim.tbl_deep_extend("force", { schema = { model = { default = "small" } } }, adapter)
    local own = extend("openai_compatible", adapter)
    own.env.url = own.env.url ~= "http://127.0.0.1:8080" and own.env.url or url
    if adapter.url then
      own.url = adapter.url
    end
    require("lathe").setup({
      adapters = { http = vim.tbl_extend("force", { own = own }, more or {}) },
      interactions = {
        chat = {
          adapter = "own",
          tools = {
            shell = {
              name = "shell",
              description = "env",
              cmds = { "env" },
              schema = { type = "function", ["function"] = { name = "shell", parameters = { type = "object" } } },
              output = {
                success = function(self, stdout, meta)
                  environment = tostring(stdout[#stdout])
                  meta.tools.chat:add_tool_output(self, { content = "listed" })
                end,
              },
            },
            opts = { keep_env = keep or {} },
          },
        },
      },
    })
    chat = require("lathe").chat({ tools = { "shell" } })
    send("go")
  end
end

function M.key_of_judge()
  local setup = require("lathe").setup
  require("lathe").setup = function(opts)
    opts.interactions.background =
      { gates = { judge = { adapter = { wire = "openai", env = { k = "UNUSED_ACCESS" } } } } }
    setup(opts)
  end
  talk({})
end

function M.list_of_models(...)
  talk({ env = { api_key = "" } })
  chat.adapter.env.api_key = "cmd:sleep " .. ...
  chat.adapter.models = { url = "${url}/models" }
  chat.adapter.headers = { Authorization = "Bearer ${api_key} ${fresh}" }
  chat.adapter.env.fresh = "cmd:sleep " .. ...
  require("lathe.chat.switch_model").model(chat)
end

function M.judge(...)
  local extend = require("lathe.adapters").extend
  require("lathe").setup({
    adapters = {
      http = {
        judge = extend("openai_compatible", { env = { api_key = "cmd:sleep " .. ... } }),
        fake = extend("scripted", { turns = { answer("t", {}), { text = "done" } } }),
      },
    },
    interactions = {
      chat = {
        adapter = "fake",
        tools = {
          t = vim.tbl_extend(
            "force",
            tool("t", {
              function()
                return { status = "success", data = "ran" }
              end,
            }),
            {
              opts = { require_cmd_approval = true, judge = true },
              gates = {
                judge_context = function()
                  return "Runs x"
                end,
              },
              output = {
                cmd_string = function()
                  return "x"
                end,
              },
            }
          ),
        },
      },
      background = { gates = { judge = { adapter = "judge" } } },
    },
  })
  chat = require("lathe").chat({ tools = { "t" } })
  chat:set_auto(true)
  send("go")
end

return M
