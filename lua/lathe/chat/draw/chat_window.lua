-- Windows that show a chat: where they open, and what is left when the chat is hidden. How they look is in `folds.lua`.
-- A chat lives without one as well.
local M = {}

local api = vim.api

-- A chat beside other windows is this wide if these are left so many columns.
local READABLE_WIDTH = 50
local OTHERS_WIDTH = 25
-- A float lies over the others: it may take more.
local FLOAT_WIDTH = 80

---@class lathe.ChatWindow
---@field is_float boolean?
---@field before integer? the buffer whose place the chat took
---@field fixed string? the option that keeps its size
---@field settings table `display.chat.window`

local windows = {} ---@type table<integer, lathe.ChatWindow> those that `open` made or took
local tabs = {} ---@type table<integer, true> tab pages that `open` made

---@param part number a share of the whole, or a number of cells
---@param whole integer
---@return integer
local function cells(part, whole)
  return math.max(math.floor(part <= 1 and part * whole or part), 1)
end

---@param settings table
---@return integer columns
local function split_width(settings)
  local width = cells(settings.width, vim.o.columns)
  if settings.width > 1 then
    return width
  end
  return math.max(width, math.min(READABLE_WIDTH, vim.o.columns - OTHERS_WIDTH - 1))
end

---@param settings table
---@return vim.api.keyset.win_config
local function float(settings)
  local columns, lines = vim.o.columns - 2, vim.o.lines - vim.o.cmdheight - 2
  local width = cells(settings.width, columns)
  if settings.width <= 1 then
    width = math.max(width, math.min(FLOAT_WIDTH, columns))
  end
  width = math.max(math.min(width, columns), 1)
  local height = math.max(math.min(cells(settings.height or 0.8, lines), lines), 1)
  return {
    relative = "editor",
    border = "rounded",
    width = width,
    height = height,
    row = math.max(math.floor((lines - height) / 2), 0),
    col = math.max(math.floor((columns - width) / 2), 0),
  }
end

---@param win integer
---@param name string
---@param value any
local function set_option(win, name, value)
  api.nvim_set_option_value(name, value, { win = win, scope = "local" })
end

---@param bufnr integer
---@param settings table
---@param enter boolean
---@return integer win
local function open_float(bufnr, settings, enter)
  local win = api.nvim_open_win(bufnr, enter, float(settings))
  windows[win] = { settings = settings, is_float = true }
  return win
end

---@param bufnr integer
---@param settings table
---@param enter boolean
---@return integer? win nil when there is no room
local function open_split(bufnr, settings, enter)
  local is_below = settings.layout == "horizontal"
  local place = is_below and { split = "below", win = -1, height = cells(settings.height or 0.4, vim.o.lines) }
    or { split = "right", win = -1, width = split_width(settings) }
  local ok, win = pcall(api.nvim_open_win, bufnr, enter, place)
  if not ok then
    return nil
  end
  local fixed = is_below and "winfixheight" or "winfixwidth"
  windows[win] = { settings = settings, fixed = fixed }
  set_option(win, fixed, true)
  return win
end

---@param bufnr integer
---@param settings table
---@return integer win
local function open_tab(bufnr, settings)
  vim.cmd("tab split")
  local win = api.nvim_get_current_win()
  set_option(win, "winfixbuf", false)
  api.nvim_win_set_buf(win, bufnr)
  windows[win] = { settings = settings }
  tabs[api.nvim_get_current_tabpage()] = true
  return win
end

---Shows a buffer in a window that is there already; one with 'winfixbuf' takes no other.
---@param win integer
---@param bufnr integer
---@param settings table
---@return boolean shown
local function take(win, bufnr, settings)
  local before = api.nvim_win_get_buf(win)
  local known = windows[win]
  if not pcall(api.nvim_win_set_buf, win, bufnr) then
    return false
  end
  if not known and vim.bo[before].filetype ~= "lathe" then
    windows[win] = { settings = settings, before = before }
  end
  return true
end

---A window of this tab page that shows a chat.
---@return integer? win
local function chat_window()
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if vim.bo[api.nvim_win_get_buf(win)].filetype == "lathe" then
      return win
    end
  end
end

---A window in which a chat can be shown without opening one.
---@param settings table
---@param enter boolean
---@return integer?
local function place_of(settings, enter)
  -- What the user looks at is taken only when the user asks for the chat.
  return chat_window() or (settings.layout == "buffer" and enter and api.nvim_get_current_win()) or nil
end

---@param bufnr integer
---@param settings table
---@param enter boolean
---@return integer win
local function show(bufnr, settings, enter)
  local win = place_of(settings, enter)
  if win and take(win, bufnr, settings) then
    return win
  elseif settings.layout == "tab" and enter then
    return open_tab(bufnr, settings)
  elseif settings.layout == "float" and enter then
    return open_float(bufnr, settings, enter)
  end
  -- A float always has some room.
  return open_split(bufnr, settings, enter) or open_float(bufnr, settings, enter)
end

---Does something once the command-line window is closed, if it is open: before that no window can be opened, entered or
---closed.
---@param act fun()
---@return boolean waits false: nothing is done
function M.after_cmdwin(act)
  if vim.fn.getcmdwintype() == "" then
    return false
  end
  api.nvim_create_autocmd("CmdwinLeave", {
    once = true,
    desc = "lathe: do what had to wait",
    callback = vim.schedule_wrap(act),
  })
  return true
end

local group ---@type integer?

local function watch()
  group = api.nvim_create_augroup("lathe.window", {})
  api.nvim_create_autocmd("WinClosed", {
    group = group,
    desc = "lathe: forget a window",
    callback = function(event)
      windows[tonumber(event.match)] = nil
    end,
  })
  api.nvim_create_autocmd("BufWinEnter", {
    group = group,
    desc = "lathe: a window that shows something else is the user's",
    callback = function()
      local win = api.nvim_get_current_win()
      local window = windows[win]
      if window and vim.bo.filetype ~= "lathe" then
        windows[win] = nil
        if window.fixed then -- the other options go with the buffer, this stays with the window
          set_option(win, window.fixed, vim.go[window.fixed])
        end
      end
    end,
  })
  api.nvim_create_autocmd("VimResized", {
    group = group,
    desc = "lathe: fit floats to the screen",
    callback = function()
      for win, window in pairs(windows) do
        if window.is_float and api.nvim_win_is_valid(win) then
          api.nvim_win_set_config(win, float(window.settings))
        end
      end
    end,
  })
end

---Shows a buffer: where it is or another chat is shown, else in a window of its own.
---@param bufnr integer
---@param settings table `display.chat.window`
---@param enter boolean
function M.open(bufnr, settings, enter)
  local waits = M.after_cmdwin(function()
    if api.nvim_buf_is_loaded(bufnr) then
      M.open(bufnr, settings, enter)
    end
  end)
  if waits then
    return
  end
  if not group then
    watch()
  end
  local win = vim.fn.bufwinid(bufnr)
  if win == -1 and settings.layout == "tab" then -- it has a tab page of its own somewhere
    win = vim.fn.win_findbuf(bufnr)[1] or -1
  end
  local is_new = win == -1
  if is_new then
    win = show(bufnr, settings, enter)
    api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(bufnr), 0 })
  end
  if enter then
    api.nvim_set_current_win(win)
  end
end

---Shows in a window what it showed before the chat, or another buffer.
---@param win integer
local function show_other(win)
  local before = windows[win] and windows[win].before or nil
  windows[win] = nil
  local other = before or api.nvim_win_call(win, function()
    return vim.fn.bufnr("#")
  end)
  if other < 1 or not api.nvim_buf_is_valid(other) or vim.bo[other].filetype == "lathe" then
    other = api.nvim_create_buf(true, false)
  end
  pcall(api.nvim_win_set_buf, win, other)
end

---Whether a window must show something else instead of being closed: it is the last one of a tab page that is the
---user's, or in which floats would be left, which Neovim 0.11 does not survive in another tab page.
---@param win integer
---@return boolean
local function must_stay(win)
  local tab = api.nvim_win_get_tabpage(win)
  local all = api.nvim_tabpage_list_wins(tab)
  local splits = vim.tbl_filter(function(other)
    return api.nvim_win_get_config(other).relative == ""
  end, all)
  return #splits == 1 and splits[1] == win and (not tabs[tab] or #all > 1)
end

---Goes to where the user was before a window that is to be closed.
---@param win integer
local function leave(win)
  if win ~= api.nvim_get_current_win() then
    return
  end
  local before = vim.fn.win_getid(vim.fn.winnr("#"))
  if before ~= 0 and before ~= win then
    api.nvim_set_current_win(before)
  elseif tabs[api.nvim_win_get_tabpage(win)] and vim.fn.tabpagenr("#") > 0 then
    vim.cmd.tabnext(vim.fn.tabpagenr("#"))
  end
end

---Takes a chat out of windows: those made for it are closed, the others show again what they showed.
---@param wins integer[]
---@param bufnr integer
local function take_out(wins, bufnr)
  for _, win in ipairs(wins) do
    if api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == bufnr then
      local is_taken = windows[win] and windows[win].before
      if is_taken or must_stay(win) then
        show_other(win)
      else
        leave(win)
        if not pcall(api.nvim_win_close, win, true) then
          show_other(win)
        end
      end
    end
  end
end

---Takes a chat out of the windows of the current tab page.
---@param bufnr integer
function M.hide(bufnr)
  local waits = M.after_cmdwin(function()
    M.hide(bufnr)
  end)
  if not waits then
    take_out(api.nvim_tabpage_list_wins(0), bufnr)
  end
end

---Takes a chat that is closed out of all windows.
---@param bufnr integer
function M.remove(bufnr)
  take_out(vim.fn.win_findbuf(bufnr), bufnr)
end

return M
