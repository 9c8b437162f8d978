-- What a key, a `<Plug>` map or a subcommand does with a chat, by name.
local question = require("lathe.chat.ask.question")
local keymaps = require("lathe.chat.keymaps")

---@param how "always"|"accept"|"reject"|"cancel"
---@return fun(chat: lathe.Chat)
local function answer(how)
  return function(chat)
    question.answer(chat, how)
  end
end

---@param direction 1|-1
---@return fun(chat: lathe.Chat)
local function jump(direction)
  return function(chat)
    local row = vim.api.nvim_win_get_cursor(0)[1] - 1
    local target
    for _, heading in ipairs(chat.render:heading_rows()) do
      if direction == 1 and heading > row then
        target = heading
        break
      elseif direction == -1 and heading < row then
        target = heading
      end
    end
    if target then
      vim.cmd("normal! m'")
      vim.api.nvim_win_set_cursor(0, { target + 1, 0 })
    end
  end
end

---What is done with a chat.
---@type table<string, fun(chat: lathe.Chat)>
return {
  send = function(chat)
    if vim.fn.pumvisible() == 1 then
      -- While a menu is open nothing else ends an insert.
      vim.api.nvim_feedkeys(vim.keycode("<C-\\><C-n>"), "ni", false)
    else
      vim.cmd.stopinsert()
    end
    -- While a turn runs there is nothing to send again: an empty input would wait for nothing.
    if not chat.is_running or chat.render:input() then
      chat:submit()
    end
  end,
  stop = function(chat)
    chat:stop()
  end,
  skip = function(chat)
    chat:skip()
  end,
  retry = function(chat)
    chat:retry()
  end,
  edit_last = function(chat)
    chat:edit_last()
  end,
  auto = function(chat)
    chat:set_auto(not chat.is_auto)
  end,
  clear = function(chat)
    chat:clear()
  end,
  close = function(chat)
    chat:close()
  end,
  view_all = function(chat)
    require("lathe.chat.draw.call_window").open(chat)
  end,
  yank_code = function(chat)
    require("lathe.chat.yank").yank(chat)
  end,
  next_heading = jump(1),
  prev_heading = jump(-1),
  always_accept = answer("always"),
  accept = answer("accept"),
  reject = answer("reject"),
  cancel = answer("cancel"),
  help = function(chat)
    keymaps.help(chat)
  end,
}
