-- A window for a list that the user asked for: it can be walked through and searched, and one key closes it.
local M = {}

---@param lines string[]
---@param title string
---@param keys string[]? further keys that close it
function M.show(lines, title, keys)
  local width = 0
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  local max_height = math.max(vim.o.lines - 4, 1)
  local opts = { border = "rounded", title = (" %s "):format(title), focus = false, max_height = max_height }
  local bufnr, win = vim.lsp.util.open_floating_preview(lines, "", opts)
  vim.api.nvim_set_current_win(win)
  for _, lhs in ipairs(vim.list_extend({ "q", "<Esc>", "<CR>" }, keys or {})) do
    vim.keymap.set("n", lhs, "<Cmd>close<CR>", { buffer = bufnr, nowait = true })
  end
  -- It makes the window no wider than the chat's.
  vim.api.nvim_win_set_config(win, {
    relative = "editor",
    row = math.max(math.floor((vim.o.lines - #lines) / 2) - 1, 0),
    col = math.max(math.floor((vim.o.columns - width) / 2), 0),
    width = math.max(math.min(width, vim.o.columns - 2), 1),
    height = math.max(math.min(#lines, max_height), 1),
  })
end

return M
