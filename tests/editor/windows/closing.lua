-- What windows/closing.rs runs in its editor.
-- luacheck: globals chat

local M = {}

function M.many_tab_pages()
  layout("vertical")
  vim.cmd("edit one.txt")
  chat = require("lathe").chat()
  vim.cmd("only")
  vim.cmd("tab split | vsplit two.txt | tab split | silent! only")
  vim.cmd("buffer " .. chat.bufnr)
  vim.api.nvim_open_win(
    vim.api.nvim_create_buf(false, true),
    false,
    { relative = "editor", row = 1, col = 1, width = 5, height = 2 }
  )
  vim.cmd("tabnew three.txt")
  chat:close()
end

function M.shape()
  local list = {}
  for _, tab in ipairs(vim.api.nvim_list_tabpages()) do
    for _, win in ipairs(vim.api.nvim_tabpage_list_wins(tab)) do
      list[#list + 1] = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)), ":t")
    end
    list[#list + 1] = "|"
  end
  return table.concat(list, " ")
end

return M
