-- What typing.rs runs in its editor.
-- luacheck: globals chat plain write

local M = {}

-- A chat beside a window that is typed in.
function M.beside(...)
  require("lathe").setup({
    adapters = { http = { server = require("lathe.adapters").extend("openai_compatible", { env = { url = ... } }) } },
    interactions = { chat = { adapter = "server" } },
  })
  chat = require("lathe").chat({ prompt = "go" })
  vim.cmd("wincmd p | enew")
  -- Writes a text evenly, every 33 ms, into a window that looks like the chat's.
  function write(text, ms)
    plain = true
    local bufnr = vim.api.nvim_create_buf(false, true)
    vim.treesitter.start(bufnr, "markdown")
    local win = vim.fn.bufwinid(chat.bufnr)
    vim.api.nvim_win_set_buf(win, bufnr)
    local steps, step, timer = math.floor(ms / 33), 0, vim.uv.new_timer()
    timer:start(
      0,
      33,
      vim.schedule_wrap(function()
        if not plain then
          return
        end
        step = step + 1
        local from, to = math.floor((step - 1) * #text / steps) + 1, math.floor(step * #text / steps)
        local last = vim.api.nvim_buf_line_count(bufnr) - 1
        local col = #vim.api.nvim_buf_get_lines(bufnr, last, last + 1, false)[1]
        vim.api.nvim_buf_set_text(bufnr, last, col, last, col, vim.split(text:sub(from, to), "\n"))
        vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(bufnr), 0 })
        if step == steps then
          timer:close()
          plain = false
          vim.api.nvim_win_set_buf(win, chat.bufnr)
        end
      end)
    )
  end
end

return M
