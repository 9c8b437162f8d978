-- What the user adds to a chat from another window. How a text is read is in `buffer_text.lua`.
local M = {}

local api = vim.api

local chats = require("lathe.chat")
local buffer_text = require("lathe.chat.input.buffer_text")
local context = require("lathe.chat.input.context")
local mentions = require("lathe.tools.mentions")
local notify = require("lathe.notify")

---The chat to add to; opened beside the current window when there is none.
---@return lathe.Chat? chat nil when the library is missing; the user has been told
local function target()
  local chat = chats.last()
  if not chat then
    chat = chats.new({ hidden = true })
    if chat then
      chat:open({ enter = false })
    end
  end
  return chat
end

---Puts lines, what is being selected, or a mention of a buffer into the last chat's input.
---@param opts { bufnr: integer?, range: integer[]? }
function M.add(opts)
  local bufnr = opts.bufnr or 0
  bufnr = bufnr == 0 and api.nvim_get_current_buf() or bufnr
  if not api.nvim_buf_is_valid(bufnr) then
    return notify.warn(("there is no buffer %d"):format(bufnr))
  end
  local is_selecting = not opts.bufnr and not opts.range and vim.fn.mode():find("^[vV\22]")
  local which = opts.range and { first = opts.range[1], last = opts.range[2] } or is_selecting and "selection" or nil
  if not which and chats.get(bufnr) then
    return notify.info("this is a chat: add from the window of another buffer, or a range of lines")
  end
  local chat = target()
  if not chat then
    return
  end
  local text, cut
  if which then
    local excerpt, fault = buffer_text.read(bufnr, which, chat.limits, chat.cwd)
    if not excerpt then
      return notify.warn(fault or "there is nothing to add")
    end
    text, cut = buffer_text.fenced(excerpt, chat.limits.max_bytes), buffer_text.mark(excerpt, chat.limits.max_bytes)
    -- A fence that is open would end in the middle of it.
    local open = mentions.open_fence(chat.render:input() or "")
    text = (open and open .. "\n\n" or "") .. context.plain(text)
  else
    text = ("#{buffer:%d}"):format(bufnr)
  end
  if is_selecting then
    vim.cmd.normal({ "\27", bang = true })
  end
  chat:add_buf_message({ role = "user", content = text })
  if cut then
    notify.warn("what was added is " .. cut)
  elseif not chat:is_visible() then
    notify.info("added to the chat; `:Lathe toggle` shows it")
  end
end

return M
