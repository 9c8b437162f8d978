-- What the user is told inside a chat: one line with facts at the right edge. A request that is tried again has one
-- such line, which changes in place.
local M = {}

local words = require("lathe.words")

local now = vim.uv.now

---@param text string any number of lines
---@return string head
---@return string[]|false body
local function parts(text)
  local head, rest = text:match("^%s*([^\r\n]*)[\r\n]*(.*)$")
  return head, rest:find("%S") and { rest } or false
end

---A line of its own.
---@param chat lathe.Chat
---@param text string
---@param fact string? for the right edge
---@param state string? default: notice
function M.show(chat, text, fact, state)
  local head, body = parts(text)
  chat.render:add_call({
    kind = "notice",
    state = state or "notice",
    head = head,
    body = body,
    question = false,
    is_live = false,
    fact = fact,
  })
end

---A request has failed for now and is sent again after a while.
---@param chat lathe.Chat
---@param notice lathe.Notice
function M.retry(chat, notice)
  local line = chat.retry_line
  local head, body = parts(words.failure(chat.adapter, { message = notice.message }))
  local at_ms = now() + notice.wait_ms
  local stop = chat.render.key("stop")
  local tried = ("retry %d of %d"):format(notice.attempt, notice.of)
  if not line then
    line = { kind = "notice", state = "notice", question = false, is_live = true }
    chat.retry_line = line
    chat.render:add_call(line)
  end
  line.head, line.body, line.fact = head, body, tried
  line.live_fact = function(time_ms)
    local seconds = math.ceil((at_ms - time_ms) / 1000)
    return tried .. (seconds > 0 and (" in %d s"):format(seconds) or "") .. (stop and "  " .. stop .. " stop" or "")
  end
  chat.render:change_call(line)
end

---The line of a request that was tried again does not change any more: it is answered, or stopped.
---@param chat lathe.Chat
function M.settle(chat)
  local line = chat.retry_line
  if line then
    chat.retry_line, line.is_live, line.live_fact = nil, false, nil
    chat.render:change_call(line)
  end
end

---A request has failed.
---@param chat lathe.Chat
---@param failure lathe.Failure
---@return string text with the provider's name
function M.failed(chat, failure)
  local key = chat.render.key("retry")
  local again = key and key .. " send again"
  local line = chat.retry_line
  local text = words.failure(chat.adapter, failure)
  if not line then
    M.show(chat, text, again)
    return text
  end
  -- The last failure takes the place of those before it.
  line.head, line.body = parts(text)
  line.fact = line.fact .. (again and "  " .. again or "")
  M.settle(chat)
  return text
end

---The provider refuses to go on: to take the message back is the way out.
---@param chat lathe.Chat
---@param why string? may be empty
function M.refused(chat, why)
  local key = chat.render.key("edit_last")
  local text = words.with_reason("The provider refuses to go on", why)
  M.show(chat, text .. " It would refuse the next message, too: take this turn out.", key and key .. " take it out")
end

---The request is not quite what was wanted.
---@param chat lathe.Chat
---@param text string
---@return string text with the provider's name
function M.about_request(chat, text)
  text = words.failure(chat.adapter, { message = text })
  M.show(chat, text)
  return text
end

return M
