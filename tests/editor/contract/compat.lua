-- What contract/compat.rs runs in its editor.
-- luacheck: globals heard

local M = {}

function M.turns_of_both()
  local answers = {
    answer("calculator", { num1 = 2, num2 = 3, operation = "add" }),
    answer("mine", { word = "x" }),
    { text = "done" },
  }
  require("lathe.adapters").register(
    "scripted",
    require("codecompanion.adapters").extend("scripted", { turns = answers })
  )
end

function M.own_tool()
  local config, log, utils =
    require("codecompanion.config"), require("codecompanion.utils.log"), require("codecompanion.utils")
  log:debug("[Mine] %s and %s", "text", { 1 })
  log:error("100% odd")
  utils.notify("told by a tool", vim.log.levels.WARN)
  assert(config.constants.USER_ROLE == "user" and utils.capitalize("abc") == "Abc")
  assert(config.interactions.chat.tools.calculator.name == "calculator" and config.strategies.chat.adapter == nil)
  config.interactions.chat.tools.mine = tool("mine", {
    function(_, args)
      return { status = "success", data = "mine " .. args.word }
    end,
  })
  config.interactions.chat.tools.groups.all = { tools = { "calculator", "mine" } }
  heard = {}
  vim.api.nvim_create_autocmd("User", {
    pattern = "CodeCompanionMine",
    callback = function(event)
      heard[1] = event.data.n
    end,
  })
  utils.fire("Mine", { n = 5 })
  assert(heard[1] == 5)
end

return M
