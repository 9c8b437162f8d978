-- The command `:Lathe` and the `<Plug>` maps. Nothing of the plugin is loaded before one of them is used.
if vim.g.loaded_lathe then
  return
end
vim.g.loaded_lathe = true

vim.api.nvim_create_user_command("Lathe", function(args)
  require("lathe.command").run(args)
end, {
  nargs = "*",
  range = true,
  desc = "Chat with tools",
  complete = function(lead, line)
    return require("lathe.command").complete(lead, line)
  end,
})

local group = vim.api.nvim_create_augroup("lathe", {})
for event, what in pairs({ BufFilePre = "naming", SessionLoadPost = "loaded" }) do
  vim.api.nvim_create_autocmd(event, {
    group = group,
    desc = "lathe: windows that a session has of chats",
    callback = function()
      if vim.g.SessionLoad then
        require("lathe.chat.session_files")[what]()
      end
    end,
  })
end

local maps = {
  Add = "add",
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
-- What is selected is for `add` only.
local modes = { Add = { "n", "x" } }
for name, action in pairs(maps) do
  vim.keymap.set(modes[name] or { "n", "i" }, "<Plug>(Lathe" .. name .. ")", function()
    require("lathe.command").act(action)
  end, { desc = "lathe: " .. action:gsub("_", " ") })
end
