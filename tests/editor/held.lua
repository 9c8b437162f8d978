-- What held.rs runs in its editor.
-- luacheck: globals draft given go_on input is_all_there menu shows_window write

local M = {}

-- A turn runs; `write(n)` adds lines of the model.
function M.world()
  vim.o.showmode, vim.o.timeoutlen = false, 50
  open({ answer("t", {}), { text = "the end" } }, {
    t = tool("t", {
      function(_, _, opts)
        go_on = opts.output_cb
      end,
    }),
    other = tool("other", {}),
  })
  given = 0
  function write(n)
    for _ = 1, n do
      given = given + 1
      chat.render:add_text(("line %d of the model\n"):format(given), "text")
    end
  end
  function input()
    return chat.render:input() or ""
  end
  function draft(lines)
    local row = chat.render:input_row()
    vim.api.nvim_buf_set_lines(chat.bufnr, row + 2, -1, false, lines)
  end
  function is_all_there()
    local text = table.concat(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false), "\n")
    local wanted = {}
    for i = 1, given do
      wanted[i] = ("line %d of the model"):format(i)
    end
    return text:find("\n" .. table.concat(wanted, "\n") .. "\n\n## Me\n", 1, true) ~= nil
  end
end

function M.menu()
  vim.keymap.set("i", "<F5>", function()
    local row, col = unpack(vim.api.nvim_win_get_cursor(0))
    menu = { row = row - 1, from = col - 3, to = col }
    if shows_window then
      local bufnr = vim.api.nvim_create_buf(false, true)
      vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, { "completed", "compiled" })
      local config = { relative = "cursor", row = 1, col = -3, width = 10, height = 2, focusable = false }
      menu.win = vim.api.nvim_open_win(bufnr, false, config)
    end
  end)
  vim.keymap.set("i", "<F6>", function()
    vim.api.nvim_buf_set_text(0, menu.row, menu.from, menu.row, menu.to, { "completed" })
    vim.api.nvim_win_set_cursor(0, { menu.row + 1, menu.from + 9 })
    if menu.win then
      vim.api.nvim_win_close(menu.win, true)
    end
    menu = nil
  end)
end

return M
