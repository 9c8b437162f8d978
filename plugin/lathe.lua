-- The command `:Lathe` and the `<Plug>` maps. Nothing of the plugin is loaded before one of them is used.
if vim.g.loaded_lathe then
  return
end
vim.g.loaded_lathe = true

vim.api.nvim_create_user_command("Lathe", function(args)
  require("lathe.command").run(args)
end, {
  nargs = "*",
  desc = "Chat with tools",
  complete = function(lead, line)
    return require("lathe.command").complete(lead, line)
  end,
})

local maps = {
  Chat = "chat",
  Toggle = "toggle",
  Send = "send",
  Stop = "stop",
  Skip = "skip",
  Retry = "retry",
  EditLast = "edit_last",
  Auto = "auto",
  Close = "close",
  Clear = "clear",
  ViewAll = "view_all",
  YankCode = "yank_code",
  NextHeading = "next_heading",
  PrevHeading = "prev_heading",
  AlwaysAccept = "always_accept",
  Accept = "accept",
  Reject = "reject",
  Cancel = "cancel",
  Help = "help",
}
for name, action in pairs(maps) do
  vim.keymap.set({ "n", "i" }, "<Plug>(Lathe" .. name .. ")", function()
    require("lathe.command").act(action)
  end, { desc = "lathe: " .. action:gsub("_", " ") })
end
