-- What windows/sessions.rs runs in its editor.

local M = {}

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
