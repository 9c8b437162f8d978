-- A window for a list that the user asked for: it can be walked through and searched, and one key closes it.
local M = {}

local api = vim.api

local chat_window = require("lathe.chat.draw.chat_window")

---@param lines string[]
---@param title string
---@param keys string[]? further keys that close it
function M.show(lines, title, keys)
  local waits = chat_window.after_cmdwin(function()
    M.show(lines, title, keys)
  end)
  if waits then
    return
  end
  local width = 0
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  local height = math.max(math.min(#lines, vim.o.lines - 4), 1)
  local bufnr = api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  for _, lhs in ipairs(vim.list_extend({ "q", "<Esc>", "<CR>" }, keys or {})) do
    vim.keymap.set("n", lhs, "<Cmd>close<CR>", { buffer = bufnr, nowait = true })
  end
  local win = api.nvim_open_win(bufnr, true, {
    relative = "editor",
    style = "minimal",
    border = "rounded",
    title = (" %s "):format(title),
    title_pos = "center",
    row = math.max(math.floor((vim.o.lines - height) / 2) - 1, 0),
    col = math.max(math.floor((vim.o.columns - width) / 2), 0),
    width = math.max(math.min(width, vim.o.columns - 2), 1),
    height = height,
  })
  vim.wo[win][0].breakindent = true
  api.nvim_create_autocmd("WinLeave", {
    buffer = bufnr,
    desc = "lathe: a list is closed when it is left",
    callback = vim.schedule_wrap(function()
      -- In another tab page closing it is not worth the risk, and the user may have made it a window like any other.
      local is_here = api.nvim_win_is_valid(win) and api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage()
      if is_here and api.nvim_win_get_config(win).relative ~= "" and api.nvim_get_current_win() ~= win then
        pcall(api.nvim_win_close, win, true)
      end
    end),
  })
end

return M
