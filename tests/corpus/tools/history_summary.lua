-- Agent generation: a tool that reads the chat that it runs in. Written as a module with functions put in one by one.
local M = {
  name = "history_summary",
  opts = {},
  handlers = {},
  output = {},
}

M.schema = {
  type = "function",
  ["function"] = {
    name = "history_summary",
    description = "Summarise the conversation",
    parameters = { type = "object", properties = vim.empty_dict() },
  },
}

M.cmds = {
  function(self)
    local lines = {}
    for _, message in ipairs(self.chat.messages) do
      if message.role == "user" then
        lines[#lines + 1] = vim.trim(message.content)
      end
    end
    return { status = "success", data = lines }
  end,
}

function M.output.success(self, agent, cmd, stdout)
  local chat = agent.chat
  local model = chat.settings and chat.settings.model or "?"
  local about = ("%s, cycle %d, %d items, adapter %s, %s"):format(
    chat.title or "untitled",
    chat.cycle,
    #chat.context_items,
    chat.adapter.name,
    model
  )
  chat:add_tool_output(self, table.concat(stdout[1], "; ") .. " | " .. about)
end

return M
