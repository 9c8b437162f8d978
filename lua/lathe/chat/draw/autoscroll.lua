-- Windows that follow the chat: those whose cursor is in the input and which show its end. All others are left alone.
local M = {}

local api = vim.api

local MAX_LINE_BYTES = 2000

---The windows that follow.
---@param bufnr integer
---@param input_row integer
---@return integer[] wins
function M.followers(bufnr, input_row)
  local wins, count = {}, api.nvim_buf_line_count(bufnr)
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    if api.nvim_win_get_cursor(win)[1] > input_row and vim.fn.line("w$", win) >= count then
      wins[#wins + 1] = win
    end
  end
  return wins
end

---The row from which the rest of the buffer just fills the current window, or a little more.
---@param bufnr integer
---@param win integer
---@return integer row
---@return boolean fits nothing of its line has to be scrolled away
local function top_row(bufnr, win)
  local height, width = api.nvim_win_get_height(win), api.nvim_win_get_width(win)
  local row, total = api.nvim_buf_line_count(bufnr), 0
  repeat
    row = row - 1
    local closed = vim.fn.foldclosed(row + 1)
    if closed > 0 then
      row, total = closed - 1, total + 1
    else
      local bytes = api.nvim_buf_get_offset(bufnr, row + 1) - api.nvim_buf_get_offset(bufnr, row)
      -- Neovim takes long to measure a long line.
      local rows = bytes > MAX_LINE_BYTES and math.ceil(bytes / width)
        or api.nvim_win_text_height(win, { start_row = row, end_row = row }).all
      total = total + rows
    end
  until total >= height or row == 0
  return row, total <= height
end

---Shows the end again after the chat has changed. Neovim alone puts it into the middle of the window when much was
---added, and leaves the window empty above it when much was removed.
---@param bufnr integer
---@param wins integer[]
function M.follow(bufnr, wins)
  for _, win in ipairs(wins) do
    if api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == bufnr then
      api.nvim_win_call(win, function()
        local row, fits = top_row(bufnr, win)
        local topline, view = row + 1, vim.fn.winsaveview()
        if view.topline ~= topline or (fits and view.skipcol > 0) then
          vim.fn.winrestview({ topline = topline, skipcol = 0 })
        end
      end)
    end
  end
end

return M
