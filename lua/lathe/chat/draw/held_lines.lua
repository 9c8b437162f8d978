-- Whether lines may come and go in a chat's buffer now. Neovim and plugins keep line numbers in mind that nothing
-- corrects: where completion or a block insert began, where a substitution goes on, where an insert may be taken back
-- to. A line above them, and what comes next is written over something else.
local M = {}

local api = vim.api

local menus = require("lathe.chat.draw.menus")

-- A float of an unknown plugin may stand at the cursor for ever: one that is not used counts no longer than this.
local MAX_FLOAT_MS = 30000

local ns_insert = api.nvim_create_namespace("lathe.insert")
local INSERT_MARK = 1

-- Keys after which Neovim begins an insert anew, where the cursor is then.
local moving = {}
for _, name in ipairs({ "Up", "Down", "Left", "Right", "Home", "End" }) do
  for _, modifier in ipairs({ "", "S-", "C-" }) do
    moving[vim.keycode(("<%s%s>"):format(modifier, name))] = true
  end
end
for _, name in ipairs({ "PageUp", "PageDown", "LeftMouse", "ScrollWheelUp", "ScrollWheelDown" }) do
  moving[vim.keycode("<" .. name .. ">")] = true
end

---@class lathe.InsertSession
---@field is_moved boolean? the cursor was moved: Neovim begins anew there
---@field is_written boolean? lines have been written meanwhile
---@field float_since integer? uv.now() since when a float stands at the cursor

local sessions = {} ---@type table<integer, lathe.InsertSession> by buffer

---Where the insert began.
---@param bufnr integer
---@return integer? row
---@return integer? col
local function insert_start(bufnr)
  local mark = api.nvim_buf_get_extmark_by_id(bufnr, ns_insert, INSERT_MARK, {})
  return mark[1], mark[2]
end

---Whether what may be taken back (<BS>, <C-w>, <C-u>) ends within a line: then Neovim would not find that line again.
---At the beginning of a line it ends by itself.
---@param bufnr integer
---@param session lathe.InsertSession
---@return boolean
local function is_start_within_line(bufnr, session)
  local _, col = insert_start(bufnr)
  return session.is_moved or not col or col > 0
end

---@param session lathe.InsertSession
---@return boolean
local function is_menu_open(session)
  if menus.is_open() then
    return true
  elseif not menus.is_float_at_cursor() then
    session.float_since = nil
    return false
  end
  session.float_since = session.float_since or vim.uv.now()
  return vim.uv.now() - session.float_since < MAX_FLOAT_MS
end

---Whether the command line keeps a place in the buffer: a search does, and a pattern that is shown while it is typed.
---@return boolean
local function is_searching()
  local kind = vim.fn.getcmdtype()
  if kind == "/" or kind == "?" then
    return true
  end
  -- A range, a name and its arguments keep none.
  return kind == ":" and vim.fn.getcmdline():find("[^%w%s,.;%%'<>$+_-]") ~= nil
end

---What keeps places in a chat's buffer.
---@param bufnr integer
---@return "keys"|"selection"|"menu"|"command"|"insert"|nil
function M.holder(bufnr)
  if api.nvim_get_current_buf() ~= bufnr then
    return nil
  end
  local at = api.nvim_get_mode()
  local mode = at.mode
  -- `o`: an operator waits, or inserts in several lines; `a`: completion.
  if at.blocking or vim.fn.state("oa") ~= "" or mode:find("^no") or mode:find("^r") then
    return "keys"
  elseif mode:find("^[vVsS\22\19]") then
    return "selection" -- its other end stays where it is
  elseif vim.fn.pumvisible() == 1 or mode:find("^[iR]v?[cx]") then
    return "menu"
  elseif mode:find("^c") then
    return is_searching() and "command" or nil
  elseif mode:find("^R") then
    return "insert"
  elseif mode:find("^i") then
    local session = sessions[bufnr]
    if not session then
      return "insert" -- begun before the chat was there
    end
    return is_menu_open(session) and "menu" or is_start_within_line(bufnr, session) and "insert" or nil
  end
  return nil
end

---Whether the buffer may be written to by what happens beside the user's keys.
---@param bufnr integer
---@return boolean
function M.is_open(bufnr)
  if M.holder(bufnr) then
    return false
  end
  -- `m`: half of a mapping or of a macro is still to come.
  return api.nvim_get_current_buf() ~= bufnr or vim.fn.state("m") == ""
end

---Lines have been written.
---@param bufnr integer
function M.note_write(bufnr)
  local session = sessions[bufnr]
  if session then
    session.is_written = true
  end
end

---@param bufnr integer
local function begin_insert(bufnr)
  local session = {}
  sessions[bufnr] = session
  local row, col = unpack(api.nvim_win_get_cursor(0))
  api.nvim_buf_set_extmark(bufnr, ns_insert, row - 1, col, { id = INSERT_MARK, right_gravity = false })
  vim.on_key(function(key)
    session.is_moved = session.is_moved or moving[key]
  end, ns_insert)
end

---@param bufnr integer
local function end_insert(bufnr)
  local session = sessions[bufnr]
  sessions[bufnr] = nil
  vim.on_key(nil, ns_insert)
  local row, col = insert_start(bufnr)
  if session and session.is_written and row then
    -- Neovim has set it to where the line was.
    pcall(vim.fn.setpos, "'[", { bufnr, row + 1, col + 1, 0 })
  end
  api.nvim_buf_del_extmark(bufnr, ns_insert, INSERT_MARK)
end

---Follows what the user does in a chat's buffer.
---@param render lathe.Render
---@param group integer of autocommands
function M.watch(render, group)
  local bufnr = render.bufnr
  local function on(events, callback, desc)
    api.nvim_create_autocmd(events, { group = group, buffer = bufnr, desc = "lathe: " .. desc, callback = callback })
  end
  on("InsertEnter", function()
    begin_insert(bufnr)
  end, "note where an insert begins")
  on("InsertLeave", function()
    end_insert(bufnr)
  end, "forget where an insert began")
  on("BufUnload", function()
    sessions[bufnr] = nil
  end, "forget where an insert began")
  -- Later: what ends has not ended yet.
  local function go_on()
    if render.is_held then
      vim.schedule(function()
        render:go_on()
      end)
    end
  end
  on({ "CompleteDone", "InsertLeave", "BufLeave", "WinLeave" }, go_on, "write what was held back")
  api.nvim_create_autocmd({ "ModeChanged", "CmdlineLeave" }, {
    group = group,
    desc = "lathe: write what was held back",
    callback = go_on,
  })
end

return M
