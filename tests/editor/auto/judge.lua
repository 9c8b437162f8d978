-- What auto/judge.rs runs in its editor.
-- luacheck: globals asked_judge chat gates judge opts settings

local M = {}

function M.judged(turns, more)
  asked_judge = {}
  turns = assert(load("return " .. turns))()
  judge = require("lathe.adapters").extend("scripted", {
    turns = type(turns) == "function" and turns or function(messages)
      asked_judge[#asked_judge + 1] = messages
      return table.remove(turns, 1)
    end,
  })
  gates = {
    judge_context = function(self)
      return "Runs `cmd " .. self.args.n .. "`"
    end,
  }
  opts = { require_cmd_approval = true, judge = true }
  settings = { adapter = judge }
  assert(load(more))()
  local setup = require("lathe").setup
  require("lathe").setup = function(given)
    given.interactions.background = { gates = { judge = settings } }
    setup(given)
  end
  open({ answer("t", { n = 1 }), { text = "done" } }, { t = gated("t", opts, gates) })
  chat:set_auto(true)
  send("go")
end

function M.own_adapter()
  open({ answer("t", { n = 1 }), { text = '{"safe": true, "reason": "x"}' }, { text = "all done" } }, {
    t = gated("t", { require_cmd_approval = true, judge = true }, {
      judge_context = function()
        return "x"
      end,
    }),
  })
  chat:set_auto(true)
  send("go")
end

function M.judged_at(url, key, more)
  vim.env.TEST_PROVIDER_KEY = key
  judge = require("lathe.adapters").extend("openai_compatible", {
    formatted_name = "Judge",
    env = { url = url, api_key = "TEST_PROVIDER_KEY" },
    schema = { model = { default = "small" } },
    opts = { retries = 0 },
  })
  assert(load(more))()
  require("lathe").setup({
    adapters = {
      http = {
        judge = judge,
        fake = require("lathe.adapters").extend("scripted", {
          turns = { answer("t", { n = 1 }), { text = "done" } },
        }),
      },
    },
    interactions = {
      chat = {
        adapter = "fake",
        tools = {
          t = gated("t", { require_cmd_approval = true, judge = true }, {
            judge_context = function()
              return "Runs x"
            end,
          }),
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
