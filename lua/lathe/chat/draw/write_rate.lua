-- Whether the user is typing somewhere else while chats are written. A write and its redraw hold a key back for a
-- millisecond or two, so they come less often meanwhile.
local M = {}

-- How often a chat is written while the user types in another buffer.
M.SELDOM_MS = 400

local api = vim.api
local now = vim.uv.now

-- As long after a key the user counts as typing.
local PAUSE_MS = 500

local ns = api.nvim_create_namespace("lathe.typing")
local watchers, n_watchers = {}, 0 ---@type table<table, true>
local typed_ms, typed_in = 0, -1

---@return nil nothing is done to the key
local function on_key()
  typed_ms, typed_in = now(), api.nvim_get_current_buf()
end

---Watches keys from now on, or no longer, for one chat.
---@param who table
---@param wanted boolean
function M.watch(who, wanted)
  if (watchers[who] ~= nil) == wanted then
    return
  end
  watchers[who] = wanted or nil
  n_watchers = n_watchers + (wanted and 1 or -1)
  if wanted and n_watchers == 1 then
    vim.on_key(on_key, ns)
  elseif n_watchers == 0 then
    vim.on_key(nil, ns)
  end
end

---Whether the user has just typed in another buffer.
---@param bufnr integer of a chat
---@return boolean
function M.is_elsewhere(bufnr)
  return n_watchers > 0 and typed_in ~= bufnr and now() - typed_ms < PAUSE_MS
end

return M
