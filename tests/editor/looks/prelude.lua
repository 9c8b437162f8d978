-- `lines(n)`: a text of so many lines. `said(name, text)`: a tool that gives the text. `row_of(text)`: the line number of
-- the first line that holds it.
-- luacheck: globals alone lines row_of said

function lines(n)
  local list = {}
  for i = 1, n do
    list[i] = "line " .. i .. " of it"
  end
  return table.concat(list, "\n")
end
function said(name, text, extra)
  return tool(name, {
    function()
      return { status = "success", data = text }
    end,
  }, extra)
end
function row_of(text)
  for i, line in ipairs(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false)) do
    if line:find(text, 1, true) then
      return i
    end
  end
end
function alone()
  vim.cmd("only")
end
