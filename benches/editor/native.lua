-- What native.rs runs in its editor.
-- luacheck: globals go took

local M = {}

-- `go(servers)` offers so many servers of 25 tools with one message; `took` is the time in ns until the request is on its
-- way and answered.
function M.listing()
  function go(servers)
    local native, groups = require("lathe.native"), {}
    for s = 1, servers do
      groups[s] = "@{server" .. s .. "}"
      for t = 1, 25 do
        native.add_tool("server" .. s, {
          name = "tool" .. t,
          description = t % 5 == 0 and function()
            return "tool " .. t
          end or ("tool " .. t),
          inputSchema = {
            type = "object",
            properties = {
              path = { type = "string", description = "a path of " .. s .. " and " .. t },
              lines = { type = "array", items = { type = "integer", minimum = 1 } },
            },
            required = { "path" },
          },
          handler = function()
            return "ran"
          end,
        })
      end
    end
    require("lathe").setup({
      adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = { { text = "done" } } }) } },
      interactions = { chat = { adapter = "fake" } },
    })
    local chat = require("lathe").chat({ prompt = table.concat(groups, " ") })
    vim.cmd.redraw()
    local start = vim.uv.hrtime()
    vim.api.nvim_create_autocmd("User", {
      pattern = "LatheChatDone",
      once = true,
      callback = function()
        took = vim.uv.hrtime() - start
      end,
    })
    chat:submit()
  end
end

return M
