-- The chat as users and tools hold it: its methods. Chats are opened in `init.lua`; the text is `draw/render.lua`'s,
-- and what the engine wants done is in `effects.lua`.
local M = {}

local api = vim.api

local adapters = require("lathe.adapters")
local calls = require("lathe.tools.call")
local chat_window = require("lathe.chat.draw.chat_window")
local config = require("lathe.config")
local core = require("lathe.core")
local events = require("lathe.events")
local fast_event = require("lathe.fast_event")
local keymaps = require("lathe.chat.keymaps")
local notice_line = require("lathe.chat.draw.notice_line")
local notify = require("lathe.notify")
local open_chats = require("lathe.chat.open_chats")
local other_names = require("lathe.chat.other_names")
local pictures = require("lathe.chat.input.pictures")
local server_mentions = require("lathe.chat.input.server_mentions")
local system_prompts = require("lathe.chat.system_prompts")
local user_message = require("lathe.chat.input.user_message")

---@class lathe.Chat
local Chat = {
  get_messages = other_names.get_messages,
  has_tools = other_names.has_tools,
  set_title = other_names.set_title,
}

---@param chat lathe.Chat
---@param key any
---@return any
function Chat.__index(chat, key)
  local own = Chat[key]
  if own == nil then
    return other_names.find(chat, key)
  end
  return own
end

---Makes these fields a chat.
---@param fields table
---@return lathe.Chat
function M.new(fields)
  return setmetatable(fields, Chat)
end

---@param chat lathe.Chat
---@param who "user"|"llm"
---@return string
function Chat.heading(chat, who)
  local role = chat.config.roles[who]
  if type(role) == "function" then
    local ok, text = pcall(role, chat.adapter)
    role = ok and type(text) == "string" and text or (who == "user" and "Me" or "Lathe")
  end
  return (role:gsub("[\r\n]", " "))
end

---What a history begins with: the system prompt, and the tools of every new chat.
---@param chat lathe.Chat
function M.begin(chat)
  chat.system_prompt = system_prompts.main(chat)
  for _, name in ipairs(chat.config.tools.opts.default_tools) do
    local fault = chat.tool_registry:expect(name)
    if fault then
      notify.fault(fault, "warn", "default_tools: ")
    end
  end
end

-- Windows ------------------------------------------------------------------------------------------------------------

---Whether a window of this tab page shows the chat.
---@return boolean
function Chat:is_visible()
  if vim.in_fast_event() then
    return self.is_shown == true -- as of the last change of windows
  end
  return vim.fn.bufwinid(self.bufnr) ~= -1
end

---Shows the chat, in a new window unless it is visible.
---@param opts { enter: boolean? }?
function Chat:open(opts)
  local enter = not opts or opts.enter ~= false
  -- What runs while a chat is opened, a tool's `enabled` for one, may have wiped its buffer.
  if self.is_closing or not api.nvim_buf_is_valid(self.bufnr) then
    return
  end
  chat_window.open(self.bufnr, self.display.chat.window, enter)
  open_chats.use(self)
end

---Closes the chat's windows; the chat lives on.
function Chat:hide()
  chat_window.hide(self.bufnr)
end

-- Messages -----------------------------------------------------------------------------------------------------------

---Adds a message to the history; it joins after the calls that are open.
---@param message { role: "user"|"system"|"llm", content: string, images: (string|table)[]? } images: of the user, paths or
---  `{ data = bytes, mime = … }`
---@param opts { visible: boolean? }?
function Chat:add_message(message, opts)
  local visible = not (opts and opts.visible == false)
  local content = type(message.content) == "string" and message.content or calls.readable(message.content)
  if message.role == "llm" and visible then
    self.given[#self.given + 1] = content
  end
  local attachments
  if message.role == "user" and type(message.images) == "table" then
    local problems
    attachments, problems = pictures.read(message.images)
    for _, problem in ipairs(problems) do
      notify.warn("a picture is left out: " .. problem)
      content = ("%s\n[a picture is missing: %s]"):format(content, problem)
    end
  end
  core.lib.add_message({
    chat = self.id,
    role = message.role,
    content = content,
    visible = visible,
    attachments = attachments,
  })
end

---Adds text to the buffer only: the user's to the input, the model's to the history.
---@param message { role: "user"|"llm", content: string }
function Chat:add_buf_message(message)
  local content = type(message.content) == "string" and message.content or calls.readable(message.content)
  if message.role == "user" and vim.in_fast_event() then
    vim.schedule(function()
      self.render:add_input(content)
    end)
  elseif message.role == "user" then
    self.render:add_input(content)
  else
    self.render:open_role("llm", self:heading("llm"))
    self.render:add_lines(content)
  end
end

---Adds something for the model to know, not shown in full.
---@param message { role: "user"|"system"?, content: string }
---@param source string? where it is from
---@param id string? what it is
function Chat:add_context(message, source, id)
  self:add_message({ role = message.role or "user", content = message.content }, { visible = false })
  table.insert(self.context_items, { source = source, id = id, role = message.role or "user" })
  self.render:add_lines(("> Context: %s"):format(id or source or "text"))
  events.note("context", self, { source = source })
end

---Shows what the model is given besides what is said.
---@param name string
function Chat:show_context(name)
  self.render:add_lines(("> Context: @{%s}"):format(name))
end

---Adds to the result of a call: `content` for the model, `display` for the user (nil: the content, false or an empty
---string: nothing). The older form is `(tool, for_llm, for_user)`.
---@param tool lathe.Tool the tool that runs, `self` in an output function
---@param output string|{ content: any, display: any }|any
---@param for_user any
function Chat:add_tool_output(tool, output, for_user)
  local call, display = calls.add_output(self, tool, output, for_user)
  if not call or not display then
    return
  end
  local call_block = call.block
  if call_block then
    local body = call_block.body or {}
    call_block.body = body
    body[#body + 1] = display
    self.render:change_call(call_block)
  else
    call.body = { display } -- cancelled in the queue: its line comes with its end
  end
end

---Finds the adapter that the chat was opened with, or the configured one.
function Chat:find_adapter()
  local wanted = self.wanted
  local spec = wanted.adapter or config.get().interactions.chat.adapter
  self.adapter, self.adapter_message = adapters.resolve(spec, wanted.model)
end

---Tells the user something about this chat, in the buffer, and elsewhere when that is not visible.
---@param text string
function Chat:notice(text)
  notice_line.show(self, text)
  self:tell_if_hidden(text)
end

---@param text string
function Chat:tell_if_hidden(text)
  vim.schedule(function()
    if not self.is_silent and not self:is_visible() then
      notify.warn(text)
    end
  end)
end

-- Actions ------------------------------------------------------------------------------------------------------------

---Sends what is in the input; while a turn runs it goes out with the results.
function Chat:submit()
  if vim.in_fast_event() then -- after what was put into the input before
    return vim.schedule(function()
      self:submit()
    end)
  end
  local function again()
    self:submit()
  end
  if self.render:when_open(again) then
    return
  end
  if user_message.check(self) and not server_mentions.take_over(self) then
    core.lib.submit({ chat = self.id })
  end
end

---Asks for the last answer anew, or for the one that failed; tools do not run again.
function Chat:retry()
  core.lib.retry({ chat = self.id })
end

---Puts the user's last message back into the input; what came of it is forgotten.
function Chat:edit_last()
  core.lib.take_last_message({ chat = self.id })
end

---Turns auto mode on or off: whether tools run without asking. It ends with the chat.
---@param auto boolean
function Chat:set_auto(auto)
  if self.is_auto == auto or self.is_closing then
    return
  end
  self.is_auto = auto
  core.lib.set_auto({ chat = self.id, auto = auto })
  self.render:show_auto(auto)
  if auto then
    local key = keymaps.key(self.config, "auto") or ":Lathe auto off"
    local means = "Auto mode is on in this chat: tools run without asking. Still asked about are tools with "
      .. "`protect`, commands of tools with `require_cmd_approval` that are not known to be safe, and a call that is "
      .. "repeated over and over. `%s` turns it off."
    self:notice(means:format(key))
  else
    self:notice("Auto mode is off: tools ask again.")
  end
  events.emit("ChatAuto", self, { status = auto and "on" or "off" })
end

---Ends the request, running and queued calls.
function Chat:stop()
  core.lib.stop({ chat = self.id })
end

---Ends only the running call; the queue goes on.
function Chat:skip()
  core.lib.skip({ chat = self.id })
end

---Empties the history.
function Chat:clear()
  core.lib.clear({ chat = self.id })
end

---Stops and forgets the chat and deletes its buffer.
function Chat:close()
  if self.is_closing then
    return
  end
  self.is_closing = true
  open_chats.leave(self)
  if self.is_shown then -- its buffer goes without a sound
    self.is_shown = false
    events.emit("ChatHidden", self)
  end
  core.lib.close_chat({ chat = self.id })
  self.render:close()
  -- Later: a buffer cannot be deleted while it is being unloaded.
  vim.schedule(function()
    pcall(api.nvim_del_augroup_by_name, "lathe.chat." .. self.id)
    if api.nvim_buf_is_valid(self.bufnr) then
      pcall(chat_window.remove, self.bufnr)
      pcall(api.nvim_buf_delete, self.bufnr, { force = true })
    end
  end)
end

---The history is empty now.
---@param chat lathe.Chat
function Chat.was_cleared(chat)
  chat.messages, chat.given, chat.stderr, chat.context_items = {}, {}, {}, {}
  chat.last_llm, chat.taken = nil, nil
  chat.render:clear()
  if not chat.is_closing then
    M.begin(chat)
  end
  events.note("cleared", chat)
end

fast_event.all_later(
  Chat,
  { "open", "hide", "close", "set_auto", "find_adapter", "notice", "add_context", "show_context" }
)

return M
