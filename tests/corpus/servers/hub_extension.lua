-- The hub's extension for chats, configured as its document says.
return function()
  require("mcphub").add_tool("clock", {
    name = "now",
    handler = function(_, res)
      return res:text("12:00"):send()
    end,
  })
  require("codecompanion").setup({
    extensions = {
      mcphub = {
        callback = "mcphub.extensions.codecompanion",
        opts = { make_vars = true, make_slash_commands = true, show_result_in_chat = true, make_tools = true },
      },
    },
  })
  require("mcphub").setup({ auto_approve = true })
end
