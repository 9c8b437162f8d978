-- What corpus/extensions.rs runs in its editor.
-- luacheck: globals chat spinner

local M = {}

---@param extensions string code of their options
---@param calls string code of what the model calls
function M.set_up(extensions, calls)
  local turns = { assert(load("return answer(" .. calls .. ")"))(), { text = "done" } }
  require("codecompanion").setup({
    adapters = { http = { fake = require("codecompanion.adapters").extend("scripted", { turns = turns }) } },
    interactions = { chat = { adapter = "fake" } },
    extensions = assert(load("return {" .. extensions .. "}"))(),
  })
  chat = require("codecompanion").chat()
end

function M.spinner()
  require("codecompanion.config").interactions.chat.tools.calculator_agent = {
    callback = corpus("tools", "calculator_agent"),
    opts = { require_approval_before = true },
  }
  spinner = require("codecompanion").extensions.spinner
  send("Use @{calculator_agent}")
end

function M.last_events()
  local request, tool = spinner.last("RequestFinished"), spinner.last("ToolFinished")
  return request.bufnr == chat.bufnr
    and request.status == "success"
    and request.adapter.name == "fake"
    and request.interaction == "chat"
    and request.strategy == "chat"
    and request.id ~= nil
    and tool.name == "calculator_agent"
    and tool.tool == "calculator_agent"
    and tool.bufnr == chat.bufnr
end

return M
