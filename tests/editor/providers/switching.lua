-- What providers/switching.rs runs in its editor.

local M = {}

---@param adapter string its code
function M.resumed(adapter)
  require("lathe").setup({
    adapters = { http = { anthropic = assert(load("return " .. adapter))() } },
    interactions = {
      chat = {
        adapter = "anthropic",
        tools = {
          calculator = tool("calculator", {
            function(_, args)
              return { status = "success", data = args.num1 * args.num2 }
            end,
          }),
        },
      },
    },
  })
  vim.ui.select = function(items, _, done)
    done(items[1])
  end
  vim.cmd("Lathe resume")
end

return M
