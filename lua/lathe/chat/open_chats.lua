-- The chats that are open: by their ids, and which of them is meant.
local M = {}

local api = vim.api

---@type table<integer, lathe.Chat>
M.by_id = {}

local last ---@type lathe.Chat?

---@param chat lathe.Chat
function M.add(chat)
  M.by_id[chat.id] = chat
end

---The user works with this chat now. One in which a tool runs by itself is none of theirs.
---@param chat lathe.Chat
function M.use(chat)
  if not chat.opens_for_questions then
    last = chat
  end
end

---The chat is being closed: the newest of the others is the last one.
---@param chat lathe.Chat
function M.leave(chat)
  if last ~= chat then
    return
  end
  last = nil
  for _, other in pairs(M.by_id) do
    if not other.is_closing and not other.opens_for_questions and (not last or other.id > last.id) then
      last = other
    end
  end
end

---@return lathe.Chat? chat the one used last
function M.last()
  return last
end

---@return lathe.Chat? chat the newest of those in which something runs
function M.running()
  local newest
  for _, chat in pairs(M.by_id) do
    if chat.is_running and not chat.is_closing and (not newest or chat.id > newest.id) then
      newest = chat
    end
  end
  return newest
end

---@param id string
---@return lathe.Chat? chat the one that is saved under it
function M.saved_as(id)
  for _, chat in pairs(M.by_id) do
    if chat.saved_id == id and not chat.is_closing then
      return chat
    end
  end
end

---@param bufnr integer?
---@return lathe.Chat?
function M.get(bufnr)
  bufnr = (bufnr == nil or bufnr == 0) and api.nvim_get_current_buf() or bufnr
  for _, chat in pairs(M.by_id) do
    if chat.bufnr == bufnr and not chat.is_closing then
      return chat
    end
  end
end

return M
