-- What looks/folds.rs runs in its editor.
-- luacheck: globals at_end before chat elsewhere file its options own state view

local M = {}

function M.without_display(display)
  require("lathe").setup({
    adapters = {
      http = {
        fake = require("lathe.adapters").extend("scripted", {
          turns = {
            { reasoning = "thought one\nthought two", tool_calls = { { name = "t", arguments = {} } } },
            { text = "done" },
          },
        }),
      },
    },
    interactions = { chat = { adapter = "fake", tools = { t = said("t", lines(12)) } } },
    display = { chat = { [display] = false } },
  })
  chat = require("lathe").chat({ tools = { "t" }, prompt = "go", submit = true })
  alone()
end

function M.two_windows()
  at_end = vim.api.nvim_get_current_win()
  vim.cmd("split")
  elsewhere = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_cursor(elsewhere, { row_of("line 20 of it"), 3 })
  vim.cmd("redraw")
  function view(win)
    return vim.api.nvim_win_call(win, function()
      return vim.inspect(vim.fn.winsaveview())
    end)
  end
  before = view(elsewhere)
  vim.api.nvim_set_current_win(at_end)
  vim.cmd("normal! G")
  send("more")
end

function M.many_calls()
  local turn = { tool_calls = {} }
  for i = 1, 900 do
    turn.tool_calls[i] = { name = "t", arguments = { n = i } }
  end
  open({ turn, { text = "done" }, { text = "more" } }, { t = said("t", lines(20)) }, { hidden = true })
  send("go")
end

function M.folded()
  local n = 0
  for i, text in ipairs(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false)) do
    if text:find("✓ t", 1, true) and vim.fn.foldclosed(i) == i and vim.fn.foldclosedend(i) == i + 20 then
      n = n + 1
    end
  end
  return n
end

function M.another_buffer(...)
  file = ...
  vim.o.number, vim.o.foldmethod, vim.o.wrap = true, "indent", false
  options = { "number", "foldmethod", "foldtext", "foldenable", "wrap", "linebreak", "winhighlight", "smoothscroll" }
  function state()
    local list = {}
    for _, name in ipairs(options) do
      list[#list + 1] = name .. "=" .. tostring(vim.wo[name])
    end
    return table.concat(list, " ")
  end
  vim.cmd("edit " .. file .. "2")
  own = state()
  require("lathe").setup({
    adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = { { text = "x" } } }) } },
    interactions = { chat = { adapter = "fake" } },
    display = { chat = { window = { layout = "buffer" } } },
  })
  chat = require("lathe").chat()
  its = state()
end

function M.narrow()
  open({ { reasoning = "a\nb", tool_calls = { { name = "find_everything", arguments = {} } } }, { text = "done" } }, {
    find_everything = said(
      "find_everything",
      lines(100),
      { output = {
        cmd_string = function()
          return "here"
        end,
      } }
    ),
  })
  alone()
  send("go")
end

function M.ten_thousand()
  local turn = { tool_calls = {} }
  for i = 1, 10000 do
    turn.tool_calls[i] = { name = "t", arguments = { n = i } }
  end
  open({ turn, { text = "done" } }, { t = said("t", lines(12)) })
  alone()
end

return M
