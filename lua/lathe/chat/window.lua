-- Windows that show a chat. A chat lives without one as well.
local M = {}

local api = vim.api

---@param part number a share of the whole, or a number of cells
---@param whole integer
---@return integer
local function cells(part, whole)
  return math.max(math.floor(part <= 1 and part * whole or part), 1)
end

---@param settings table `display.chat.window`
---@return vim.api.keyset.win_config
local function layout(settings)
  local width = cells(settings.width, vim.o.columns)
  if settings.layout == "horizontal" then
    return { split = "below", win = -1, height = cells(settings.height or 0.4, vim.o.lines) }
  elseif settings.layout == "float" then
    local height = cells(settings.height or 0.8, vim.o.lines)
    local row, col = math.floor((vim.o.lines - height) / 2) - 1, math.floor((vim.o.columns - width) / 2)
    row = math.max(row, 0)
    return { relative = "editor", border = "rounded", width = width, height = height, row = row, col = col }
  end
  return { split = "right", win = -1, width = width }
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

---Shows a buffer in a window that is there already; one with 'winfixbuf' takes no other.
---@param win integer
---@param bufnr integer
---@param enter boolean
---@return boolean shown
local function reuse(win, bufnr, enter)
  if not pcall(api.nvim_win_set_buf, win, bufnr) then
    return false
  end
  if enter then
    api.nvim_set_current_win(win)
  end
  return true
end

---Shows a buffer: where it is or another chat is shown, else in a window of its own.
---@param bufnr integer
---@param settings table `display.chat.window`
---@param enter boolean
function M.open(bufnr, settings, enter)
  if vim.fn.getcmdwintype() ~= "" then -- no window can be opened or entered before that one is closed
    api.nvim_create_autocmd("CmdwinLeave", {
      once = true,
      desc = "lathe: show the chat",
      callback = vim.schedule_wrap(function()
        if api.nvim_buf_is_loaded(bufnr) then
          M.open(bufnr, settings, enter)
        end
      end),
    })
    return
  end
  local win = vim.fn.bufwinid(bufnr)
  if win ~= -1 then
    if enter then
      api.nvim_set_current_win(win)
    end
    return
  end
  win = settings.layout == "current" and api.nvim_get_current_win() or chat_window()
  if not win or not reuse(win, bufnr, enter) then
    local ok, opened = pcall(api.nvim_open_win, bufnr, enter, layout(settings))
    if not ok then -- no room for another split: a float always has some
      opened = api.nvim_open_win(bufnr, enter, layout({ layout = "float", width = settings.width }))
    end
    win = opened
  end
  api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(bufnr), 0 })
end

---Closes the windows of the current tab page that show a buffer.
---@param bufnr integer
function M.hide(bufnr)
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == bufnr then
      if not pcall(api.nvim_win_close, win, true) then
        -- The last window cannot be closed: it shows another buffer instead, if it may.
        pcall(api.nvim_win_call, win, function()
          vim.cmd("silent! buffer #")
          if api.nvim_get_current_buf() == bufnr then
            vim.cmd.enew()
          end
        end)
      end
    end
  end
end

return M
