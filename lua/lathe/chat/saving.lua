-- What is saved of a chat besides its messages: where it belongs, its adapter, its tools. The files are the library's.
local M = {}

local core = require("lathe.core")

---The folder of the files.
---@return string
function M.folder()
  return vim.fs.joinpath(vim.fn.stdpath("state"), "lathe", "chats")
end

---@param adapter lathe.Adapter?
---@return string? model
local function model_of(adapter)
  local model = adapter and (adapter.model or vim.tbl_get(adapter, "schema", "model", "default"))
  return type(model) == "string" and model or nil
end

---Has a chat saved from now on.
---@param chat lathe.Chat
function M.begin(chat)
  chat.is_saved = true
  M.note(chat)
end

---Tells what has changed of a chat that is saved. Cheap when nothing has.
---@param chat lathe.Chat
function M.note(chat)
  local registry = chat.tool_registry
  local adapter = chat.adapter
  if not chat.is_saved or (chat.noted_adapter == adapter and chat.noted_changes == registry._changes) then
    return
  end
  chat.noted_adapter, chat.noted_changes = adapter, registry._changes
  local id = core.lib.save_chat({
    chat = chat.id,
    cwd = chat.cwd,
    adapter = adapter and adapter.name or nil,
    model = model_of(adapter),
    tools = registry._order,
    groups = registry._group_order,
    prompts = chat.prompt_order or {},
  })
  chat.saved_id = id or chat.saved_id
end

return M
