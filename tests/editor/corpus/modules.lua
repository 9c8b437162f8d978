-- What corpus/modules.rs runs in its editor.
-- luacheck: globals after approvals asked_aside before chat config family merged names prompt_args

local M = {}

---@param calls string code of what the model calls
---@param names string[] files that are tools
---@param more string code of further options
function M.set_up(calls, names, more)
  local extend = require("codecompanion.adapters").extend
  local entries = {}
  for _, name in ipairs(names) do
    entries[name] = {
      callback = function()
        return corpus("tools", name)
      end,
    }
  end
  local options = assert(load("return {" .. more .. "}"))()
  options.adapters = {
    http = {
      fake = extend("scripted", { turns = { assert(load("return answer(" .. calls .. ")"))(), { text = "done" } } }),
      side = extend("scripted", {
        turns = function(messages)
          asked_aside = vim.deepcopy(messages)
          return { text = " short " }
        end,
      }),
      broken = extend("scripted", { turns = { { error = "500 no power" } } }),
    },
  }
  options.strategies = { chat = { adapter = "fake", tools = entries } }
  require("codecompanion").setup(options)
  chat = require("codecompanion").chat()
  for _, name in ipairs(names) do
    assert(chat.tool_registry:add(name))
  end
  send("go")
end

function M.walk()
  config = require("codecompanion.config")
  assert(config.config == config and config.interactions == config.strategies)
  names = {}
  for name, entry in pairs(config.interactions.chat.tools) do
    names[#names + 1] = name
  end
  table.sort(names)
  merged = vim.tbl_deep_extend("force", config.strategies.chat.tools, { extra = { description = "e" } })
end

function M.add_and_take()
  for name, entry in pairs(corpus("tools", "tool_family")) do
    config.interactions.chat.tools[name] = entry
  end
  config.interactions.chat.tools.groups.text = { tools = { "text_upper", "text_lower" } }
  before = vim.deepcopy(require("lathe.tools").names())
  config.interactions.chat.tools.text_lower = nil
  config.interactions.chat.tools.run_command = nil
  after = require("lathe.tools").names()
end

function M.by_code()
  family = corpus("tools", "tool_family")
  chat.tool_registry:add_single_tool("text_upper", { config = family.text_upper })
  require("codecompanion.config").interactions.chat.tools.groups.pair = { tools = { "text_upper", "jira" } }
  chat.tool_registry:add_group("pair")
end

function M.approved()
  require("codecompanion").setup({
    adapters = {
      http = {
        fake = require("codecompanion.adapters").extend(
          "scripted",
          { turns = { answer("jira", { key = "A" }), { text = "done" } } }
        ),
      },
    },
    interactions = {
      chat = {
        adapter = "fake",
        tools = {
          jira = { callback = corpus("tools", "jira"), opts = { require_approval_before = true } },
          opts = {
            system_prompt = {
              enabled = true,
              prompt = function(args)
                prompt_args = args
                return "On " .. args.ctx.os .. " with " .. table.concat(args.tools, ",")
              end,
            },
          },
        },
      },
    },
  })
  chat = require("codecompanion").chat()
  chat.tool_registry:add("jira")
  approvals = require("codecompanion.interactions.chat.tools.approvals")
  approvals:always(chat.bufnr, { tool_name = "jira" })
  send("go")
end

function M.older_option()
  local entry = require("codecompanion.config").interactions.chat.tools.jira
  entry.opts = entry.opts or {}
  entry.opts.requires_approval = true
  chat.tools:execute(chat, { { name = "jira", arguments = { key = "A-3" } } })
end

return M
