-- What looks/questions.rs runs in its editor.

local M = {}

function M.three_calls()
  open({ answer("t", { path = "a" }, "t", {}, "t", {}), { text = "done" } }, {
    t = said("t", "x", { opts = { require_approval_before = true } }),
  })
  send("go")
end

function M.groups(text)
  local row = row_of(text) - 1
  local groups = {}
  for _, m in ipairs(vim.api.nvim_buf_get_extmarks(chat.bufnr, -1, { row, 0 }, { row, -1 }, { details = true })) do
    if m[4].hl_group then
      groups[#groups + 1] = m[4].hl_group .. m[3] .. "-" .. m[4].end_col
    end
  end
  return table.concat(groups, " ")
end

function M.long_question()
  open({
    { text = lines(30) },
    answer("t", { command = lines(300), cwd = ".", more = ("word "):rep(500) }, "t", {}),
    { text = "done" },
  }, {
    t = said("t", "x", {
      opts = { require_approval_before = true },
      output = {
        prompt = function()
          return "Run `" .. lines(300) .. "`?"
        end,
      },
    }),
  })
  alone()
  send("go")
end

function M.long_arguments()
  open({ answer("t", { command = lines(300), n = 5 }), { text = "done" } }, {
    t = said("t", "x", { opts = { require_approval_before = true } }),
  })
  send("go")
end

return M
