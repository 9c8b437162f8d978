-- Session files. Neovim writes a chat's window into them as an empty one that has the chat's name: here that becomes
-- the chat again, or goes.
local M = {}

local api = vim.api

local chats = {} ---@type table<integer, true> buffers of chats
local live = {} ---@type table<integer, string> names of chats that are called otherwise while a session is loaded
local empty = {} ---@type table<integer, string> names of buffers that a session has made
local shortmess ---@type string? as it was before

---@param bufnr integer
---@param name string
local function rename(bufnr, name)
  local before = api.nvim_buf_get_name(bufnr)
  pcall(api.nvim_buf_set_name, bufnr, name)
  local left = vim.fn.bufnr("^" .. before .. "$")
  if left > 0 and left ~= bufnr then -- Neovim keeps a buffer of the old name
    pcall(api.nvim_buf_delete, left, { force = true })
  end
end

---Gives a chat's buffer its name.
---@param bufnr integer
---@param name string
function M.name(bufnr, name)
  chats[bufnr] = true
  pcall(api.nvim_buf_set_name, bufnr, name)
end

---A session names a buffer, maybe as a chat is called: that is an error as long as another one has the name.
function M.naming()
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_get_name(bufnr)
    if name:find("^lathe://%d+$") then
      local holders = chats[bufnr] and live or empty
      holders[bufnr] = name
      rename(bufnr, name .. "#" .. bufnr)
    end
  end
  if not shortmess then
    shortmess = vim.o.shortmess
    vim.o.shortmess = shortmess .. "F" -- several names told would stop the editor until a key is pressed
  end
end

---A session was loaded: its empty windows with a chat's name show that chat, if it is still there, else they are
---closed.
function M.loaded()
  M.naming() -- the last one has its name still
  if shortmess and vim.o.shortmess == shortmess .. "F" then -- the session's own end has not set it back
    vim.o.shortmess = shortmess
  end
  shortmess = nil
  local by_name = {}
  for bufnr, name in pairs(live) do
    live[bufnr] = nil
    if api.nvim_buf_is_valid(bufnr) then
      rename(bufnr, name)
      by_name[name] = bufnr
    end
  end
  for bufnr, name in pairs(empty) do
    empty[bufnr] = nil
    for _, win in ipairs(by_name[name] and vim.fn.win_findbuf(bufnr) or {}) do
      pcall(api.nvim_win_set_buf, win, by_name[name])
    end
    pcall(api.nvim_buf_delete, bufnr, { force = true })
  end
end

return M
