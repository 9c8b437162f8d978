-- What memory_edits.rs runs in its editor.

local M = {}

function M.whitelist()
  require("lathe").setup({
    interactions = {
      chat = {
        tools = {
          memory = {
            opts = {
              whitelist = {
                { path = "~/dots", as = "/dotfiles" },
                { path = "~/about_me.md", as = "personal" },
                { path = "~/secret", as = "../x" },
              },
              require_approval_before = false,
            },
          },
        },
      },
    },
  })
end

function M.asking()
  require("lathe").setup({
    interactions = {
      chat = { tools = { memory = { opts = { whitelist = { { path = "~/dots", as = "/dotfiles" } } } } } },
    },
  })
  require("lathe").run_tool(
    "memory",
    { command = "create", path = "/dotfiles/new", file_text = "x" },
    {},
    function() end
  )
end

return M
