-- `layout(name, opts)` sets lathe up with a layout; `answer`s come from `turns`. `widths()` are those of the windows.
-- luacheck: globals finish hanging layout names told widths

told = {}
vim.notify = function(text)
  told[#told + 1] = text
end
vim.o.swapfile = false
function hanging(name, extra)
  return tool(name, {
    function(_, _, o)
      finish = o.output_cb
    end,
  }, extra)
end
function layout(name, turns, window)
  require("lathe").setup({
    adapters = {
      http = { fake = require("lathe.adapters").extend("scripted", { turns = turns or { { text = "answered" } } }) },
    },
    interactions = {
      chat = {
        adapter = "fake",
        tools = {
          slow = hanging("slow"),
          asks = hanging("asks", { opts = { require_approval_before = true } }),
          opts = { default_tools = { "slow", "asks" } },
        },
      },
    },
    display = { chat = { window = vim.tbl_extend("force", { layout = name }, window or {}) } },
  })
end
function widths()
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):map(vim.api.nvim_win_get_width):join(" ")
end
function names()
  return vim
    .iter(vim.api.nvim_tabpage_list_wins(0))
    :map(function(win)
      return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)), ":t")
    end)
    :join(" ")
end
