-- The buffer of a chat as Neovim sees it: how it is made, and what happens when it is shown, hidden, unloaded or
-- resized. Its text is `draw/render.lua`'s.
local M = {}

local api = vim.api

local actions = require("lathe.chat.actions")
local completion = require("lathe.chat.input.completion")
local events = require("lathe.events")
local folds = require("lathe.chat.draw.folds")
local highlight = require("lathe.chat.draw.highlight")
local input_hints = require("lathe.chat.draw.input_hints")
local keymaps = require("lathe.chat.keymaps")
local question = require("lathe.chat.ask.question")
local session_files = require("lathe.chat.session_files")
local held_lines = require("lathe.chat.draw.held_lines")

---@return integer bufnr
function M.create()
  local bufnr = api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "hide"
  vim.treesitter.language.register("markdown", "lathe")
  return bufnr
end

---Gives the buffer its name, keys and autocommands.
---@param chat lathe.Chat
function M.dress(chat)
  local bufnr = chat.bufnr
  session_files.name(bufnr, "lathe://" .. chat.id)
  vim.bo[bufnr].filetype = "lathe"
  vim.b[bufnr].lathe_chat = chat.id
  keymaps.set(chat, actions)
  local group = api.nvim_create_augroup("lathe.chat." .. chat.id, {})
  highlight.start(chat.render, group)
  input_hints.watch(chat.render, group)
  held_lines.watch(chat.render, group)
  completion.start(chat, group)
  api.nvim_create_autocmd("BufUnload", {
    group = group,
    buffer = bufnr,
    desc = "lathe: a chat without its buffer is closed",
    callback = function()
      local snapshot = chat.render:is_alive() and chat.render:snapshot()
      -- At once, so that nothing more runs for a chat that is gone.
      chat:stop()
      vim.schedule(function()
        -- `:edit` unloads the buffer only to read it again, and there is no file to read. Others unload it and leave it
        -- so: `:quit` in the last window does, when Neovim stays because of another buffer. A deleted one has no
        -- variables.
        local is_leaving = vim.v.exiting ~= vim.NIL
        local is_kept = snapshot
          and not is_leaving
          and not chat.is_closing
          and api.nvim_buf_is_valid(bufnr)
          and vim.b[bufnr].lathe_chat
        if is_kept and not api.nvim_buf_is_loaded(bufnr) then
          vim.fn.bufload(bufnr)
        end
        if is_kept and pcall(chat.render.restore, chat.render, snapshot) then
          highlight.start(chat.render)
        else
          chat:close()
        end
      end)
    end,
  })
  api.nvim_create_autocmd("WinResized", {
    group = group,
    desc = "lathe: open questions fit their windows",
    callback = vim.schedule_wrap(function()
      if chat.questions[1] and chat.render:is_alive() then
        question.reflow(chat)
      end
    end),
  })
  -- Both may come several times for one change of windows.
  for event, name in pairs({ BufWinEnter = "ChatOpened", BufWinLeave = "ChatHidden" }) do
    api.nvim_create_autocmd(event, {
      group = group,
      buffer = bufnr,
      desc = "lathe: tell that a chat is shown or hidden",
      callback = function()
        local is_shown = event == "BufWinEnter"
        if is_shown and chat.render:is_alive() then
          folds.dress(chat.render, api.nvim_get_current_win())
        end
        if chat.is_shown ~= is_shown then
          chat.is_shown = is_shown
          -- Later: a listener that fails would make the command fail that opens or closes the window.
          vim.schedule(function()
            events.emit(name, chat)
          end)
        end
      end,
    })
  end
end

---Closes chats that were opened before the plugin was reloaded: this module does not know them.
function M.wipe_left_behind()
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if vim.bo[bufnr].filetype == "lathe" and api.nvim_buf_get_name(bufnr):find("^lathe://%d+$") then
      pcall(api.nvim_buf_delete, bufnr, { force = true })
    end
  end
end

return M
