-- What commands.rs runs in its editor.
-- luacheck: globals held hold memory_kb run system took

local M = {}

-- `run(command, calls)` has one turn of so many calls of a command; `took` is the time in ns, once it is known.
-- `system(calls)` runs `true` by Neovim's own means, one after another. `hold()` makes Neovim hold 300 MB.
function M.commands()
  function run(command, calls)
    local list = {}
    for i = 1, calls do
      list[i] = { name = "shell", arguments = { n = i } }
    end
    require("lathe").setup({
      adapters = {
        http = {
          fake = require("lathe.adapters").extend("scripted", {
            turns = { { tool_calls = list }, { text = "done" } },
          }),
        },
      },
      interactions = {
        chat = {
          adapter = "fake",
          tools = {
            shell = {
              name = "shell",
              description = "a command",
              cmds = { command },
              schema = { type = "function", ["function"] = { name = "shell", parameters = { type = "object" } } },
            },
          },
        },
      },
    })
    local chat = require("lathe").chat({ tools = { "shell" }, prompt = "go" })
    took = nil
    local start
    vim.api.nvim_create_autocmd("User", {
      pattern = "LatheToolsStarted",
      once = true,
      callback = function()
        start = vim.uv.hrtime()
      end,
    })
    vim.api.nvim_create_autocmd("User", {
      pattern = "LatheToolsFinished",
      once = true,
      callback = function()
        took = vim.uv.hrtime() - start
      end,
    })
    chat:submit()
  end
  function system(calls)
    took = nil
    local start, n = vim.uv.hrtime(), 0
    local function next_one()
      n = n + 1
      if n > calls then
        took = vim.uv.hrtime() - start
        return
      end
      vim.system({ "sh", "-c", "true" }, {}, vim.schedule_wrap(next_one))
    end
    next_one()
  end
  function hold()
    held = {}
    for i = 1, 300 do
      held[i] = ("x"):rep(1024 * 1024 - i)
    end
  end
  function memory_kb()
    for line in io.lines("/proc/self/status") do
      local kb = line:match("^VmHWM:%s+(%d+)")
      if kb then
        return tonumber(kb)
      end
    end
    return 0
  end
end

return M
