-- What provider.rs runs in its editor.
-- luacheck: globals ask cpu raw took took_cpu write

local M = {}

-- `ask()` sends a message to the server; `took` is the time until the turn has ended and is on the screen. `raw()` reads
-- the same answer from the server as bytes and shows the text at once. `write(text, ms)` writes a text evenly for so
-- long, every 33 ms. `cpu()` is the time the editor has used, in ns.
function M.streaming(url, final)
  require("lathe").setup({
    adapters = { http = { server = require("lathe.adapters").extend("openai_compatible", { env = { url = url } }) } },
    interactions = { chat = { adapter = "server", tools = { opts = { auto_submit_errors = false } } } },
  })
  local port = tonumber(url:match(":(%d+)$"))
  function cpu()
    local usage = vim.uv.getrusage()
    return (usage.utime.sec + usage.stime.sec) * 1e9 + (usage.utime.usec + usage.stime.usec) * 1e3
  end
  function ask()
    took = nil
    local chat = require("lathe").chat({ prompt = "go" })
    vim.cmd.redraw()
    local start, used = vim.uv.hrtime(), cpu()
    vim.api.nvim_create_autocmd("User", {
      pattern = "LatheChatDone",
      once = true,
      callback = function()
        vim.schedule(function()
          vim.cmd.redraw()
          took, took_cpu = vim.uv.hrtime() - start, cpu() - used
        end)
      end,
    })
    chat:submit()
  end
  local function buffer()
    vim.cmd("vnew")
    vim.treesitter.start(0, "markdown")
    vim.cmd.redraw()
    return vim.api.nvim_get_current_buf()
  end
  function raw()
    took = nil
    local bufnr = buffer()
    local start, tcp, bytes = vim.uv.hrtime(), vim.uv.new_tcp(), {}
    tcp:connect("127.0.0.1", port, function()
      tcp:write("POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}")
      tcp:read_start(function(_, data)
        if data then
          bytes[#bytes + 1] = data
          return
        end
        tcp:close()
        vim.schedule(function()
          vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, vim.split(final, "\n"))
          vim.cmd.redraw()
          took = vim.uv.hrtime() - start
        end)
      end)
    end)
  end
  function write(ms)
    took = nil
    local bufnr = buffer()
    local used, steps, step = cpu(), math.floor(ms / 33), 0
    local timer = vim.uv.new_timer()
    timer:start(
      0,
      33,
      vim.schedule_wrap(function()
        if took then
          return
        end
        step = step + 1
        local from, to = math.floor((step - 1) * #final / steps) + 1, math.floor(step * #final / steps)
        local lines = vim.split(final:sub(from, to), "\n")
        local last = vim.api.nvim_buf_line_count(bufnr) - 1
        local col = #vim.api.nvim_buf_get_lines(bufnr, last, last + 1, false)[1]
        vim.api.nvim_buf_set_text(bufnr, last, col, last, col, lines)
        vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(bufnr), 0 })
        if step == steps then
          timer:close()
          vim.cmd.redraw()
          took, took_cpu = 1, cpu() - used
        end
      end)
    )
  end
end

return M
