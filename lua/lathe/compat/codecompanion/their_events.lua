-- CodeCompanion's `User` events beside our own: spinners and statuslines that were made for it react to them.
local M = {}

local events = require("lathe.events")

-- Ours, or what we note without telling anybody else, and theirs in the order in which they are told; older versions had
-- other names.
---@type table<string, string[]>
local names = {
  ChatCreated = { "ChatCreated" },
  ChatOpened = { "ChatOpened" },
  ChatHidden = { "ChatHidden" },
  ChatClosed = { "ChatClosed" },
  ChatSubmitted = { "ChatSubmitted" },
  ChatDone = { "ChatDone" },
  ChatStopped = { "ChatStopped" },
  cleared = { "ChatCleared" },
  restored = { "ChatRestored" },
  adapter = { "ChatAdapter" },
  model = { "ChatModel" },
  context = { "ContextChanged" },
  RequestStarted = { "RequestStarted" },
  streaming = { "RequestStreaming" },
  RequestFinished = { "RequestFinished" },
  ToolAdded = { "ToolAdded", "ChatToolAdded" },
  ToolsStarted = { "ToolsStarted", "AgentStarted" },
  ToolsFinished = { "ToolsFinished", "AgentFinished" },
  ToolStarted = { "ToolStarted" },
  ToolFinished = { "ToolFinished" },
  ToolApprovalRequested = { "ToolApprovalRequested" },
  ToolApprovalFinished = { "ToolApprovalFinished" },
  ToolsJudgeStarted = { "ToolsJudgeStarted" },
  ToolsJudgeFinished = { "ToolsJudgeFinished" },
}

-- What happens to a chat has the chat's id; to a request, a turn of tools or a call its own.
local of_chat = { "^Chat", "ToolAdded$", "^ContextChanged$" }

---@param bufnr integer?
---@return table?
local function adapter_of(bufnr)
  local chat = bufnr and require("lathe").get_chat(bufnr)
  local adapter = chat and chat.adapter
  return adapter
    and {
      name = adapter.name,
      formatted_name = adapter.formatted_name,
      model = chat.settings.model,
    }
end

---Tells one of theirs.
---@param name string without the prefix
---@param data table?
function M.fire(name, data)
  events.fire("CodeCompanion" .. name, data or {})
end

---@param name string of ours, without the prefix
---@param given table its data
local function pass_on(name, given)
  local data = vim.tbl_extend("force", {}, given)
  -- Another word for `tool`, and two for what it is that happens.
  data.name = data.tool
  data.interaction, data.strategy = "chat", "chat"
  data.adapter = adapter_of(data.bufnr)
  for _, other in ipairs(names[name] or {}) do
    local is_of_chat = vim.iter(of_chat):any(function(pattern)
      return other:find(pattern) ~= nil
    end)
    data.id = not is_of_chat and given.id or given.chat_id
    M.fire(other, data)
  end
end

---From now on each of our events is followed by theirs.
function M.start()
  events.observe(pass_on)
end

return M
