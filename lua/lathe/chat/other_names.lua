-- What others look for in a chat under the names that it has in CodeCompanion. Our own code uses none of it.
local M = {}

local api = vim.api

local fast_event = require("lathe.fast_event")

---@class lathe.ChatUi
---@field _chat lathe.Chat
local Ui = {}

---@param ui lathe.ChatUi
---@param key any
---@return any
function Ui.__index(ui, key)
  local chat = rawget(ui, "_chat")
  if key == "winnr" then
    local win = vim.fn.bufwinid(chat.bufnr)
    return win ~= -1 and win or nil
  elseif key == "chat_bufnr" then
    return chat.bufnr
  elseif key == "chat_id" then
    return chat.id
  elseif key == "adapter" or key == "settings" then
    return chat[key]
  elseif key == "roles" then
    return { user = chat:heading("user"), llm = chat:heading("llm") }
  elseif key == "tokens" then
    return chat.usage and chat.usage.input + chat.usage.output or 0
  end
  return Ui[key]
end

---Shows the chat.
---@param opts table?
function Ui:open(opts)
  self._chat:open(opts)
  return self
end

---Hides it.
function Ui:hide()
  self._chat:hide()
end

---Whether a window of this tab page shows it.
---@return boolean
function Ui:is_visible()
  return self._chat:is_visible()
end

---Whether only a window of another tab page shows it.
---@return boolean
function Ui:is_visible_non_curtab()
  return not self:is_visible() and vim.fn.win_findbuf(self._chat.bufnr)[1] ~= nil
end

---Whether it is in the current window.
---@return boolean
function Ui:is_active()
  return api.nvim_get_current_buf() == self._chat.bufnr
end

---Puts the cursor of its window to the end.
function Ui:follow()
  local win = self.winnr
  if win then
    api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(self._chat.bufnr), 0 })
  end
end

---The last line and its length, 0-based, and how many lines there are.
---@return integer row
---@return integer byte_col
---@return integer count
function Ui:last()
  local count = api.nvim_buf_line_count(self._chat.bufnr)
  local line = api.nvim_buf_get_lines(self._chat.bufnr, count - 1, count, false)[1] or ""
  return count - 1, #line, count
end

---The buffer is drawn as it changes, and locked as it must be.
function Ui:render()
  return self
end

function Ui:render_headers() end

function Ui:lock_buf() end

function Ui:unlock_buf() end

fast_event.all_later(Ui, { "follow" })
fast_event.all_refuse(Ui, "chat.ui:", { "is_visible_non_curtab", "is_active", "last" })

---@class lathe.ChatContextItems
---@field _chat lathe.Chat
local Items = {}
Items.__index = Items

---Notes something that the model was given.
---@param item { source: string?, id: string? }
function Items:add(item)
  if type(item) == "table" then
    table.insert(self._chat.context_items, item)
  end
end

---Nothing is drawn by hand.
function Items:render() end

---@type table<string, fun(chat: lathe.Chat): any>
local fields = {}

function fields.ui(chat)
  chat.ui = setmetatable({ _chat = chat }, Ui)
  return chat.ui
end

---The number of the turn that runs or is about to.
function fields.cycle(chat)
  return chat.turn + (chat.is_running and 0 or 1)
end

---What goes to the model besides messages.
function fields.settings(chat)
  local settings = {}
  for name, field in pairs(chat.adapter and chat.adapter.schema or {}) do
    local value = type(field) == "table" and field.default or nil
    settings[name] = type(value) ~= "function" and value or nil
  end
  settings.model = chat.adapter and chat.adapter.model or settings.model
  return settings
end

function fields.context(chat)
  return setmetatable({ _chat = chat }, Items)
end

fields.references = fields.context

function fields.agents(chat)
  return chat.tools
end

function fields.tool_flags(chat)
  return chat.tool_registry and chat.tool_registry.flags
end

---Something true while a request or a call runs.
function fields.current_request(chat)
  return chat.is_running and { id = chat.request } or nil
end

---A field under another name.
---@param chat lathe.Chat
---@param key any
---@return any
function M.find(chat, key)
  local field = fields[key]
  return field and field(chat)
end

---The history.
---@param chat lathe.Chat
---@return lathe.Message[]
function M.get_messages(chat)
  return chat.messages
end

---Whether any tool is in use.
---@param chat lathe.Chat
---@return boolean
function M.has_tools(chat)
  return next(chat.tool_registry.in_use) ~= nil
end

---Gives the chat a title.
---@param chat lathe.Chat
---@param title string
function M.set_title(chat, title)
  chat.title = title
end

return M
