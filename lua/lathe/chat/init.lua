-- Chats: the object that users and tools hold. Its text is in `render.lua`, what the engine wants done in
-- `effects.lua`.
local M = {}

local api = vim.api

local actions = require("lathe.chat.actions")
local adapters = require("lathe.adapters")
local approvals = require("lathe.chat.ask.approvals")
local block = require("lathe.chat.draw.block")
local calls = require("lathe.tools.call")
local config = require("lathe.config")
local core = require("lathe.core")
local effects = require("lathe.chat.effects")
local events = require("lathe.events")
local keymaps = require("lathe.chat.keymaps")
local notice_line = require("lathe.chat.draw.notice_line")
local notify = require("lathe.notify")
local server_mentions = require("lathe.chat.input.server_mentions")
local user_message = require("lathe.chat.input.user_message")
local registry = require("lathe.tools.registry")
local render = require("lathe.chat.draw.render")
local saving = require("lathe.chat.saving")
local system_prompts = require("lathe.chat.system_prompts")
local chat_window = require("lathe.chat.draw.chat_window")

local chats = {} ---@type table<integer, lathe.Chat> by id
local started = false
local last ---@type lathe.Chat?

---@class lathe.Chat
local Chat = {}
Chat.__index = Chat

---@param chat lathe.Chat
---@param who "user"|"llm"
---@return string
function Chat.title(chat, who)
  local role = chat.config.roles[who]
  if type(role) == "function" then
    local ok, text = pcall(role, chat.adapter)
    role = ok and type(text) == "string" and text or (who == "user" and "Me" or "Lathe")
  end
  return (role:gsub("[\r\n]", " "))
end

---The project that approvals are remembered for: the repository around the working directory, else that itself.
---@param cwd string
---@return string? nil: for the chat only
local function project_of(cwd)
  if config.get().permission_memory ~= "project" or cwd == "" then
    return nil
  end
  return vim.uv.fs_realpath(vim.fs.root(cwd, ".git") or cwd)
end

---@return integer bufnr
local function create_buffer()
  local bufnr = api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "hide"
  vim.treesitter.language.register("markdown", "lathe")
  return bufnr
end

---@param chat lathe.Chat
local function dress_buffer(chat)
  local bufnr = chat.bufnr
  require("lathe.chat.session_files").name(bufnr, "lathe://" .. chat.id)
  vim.bo[bufnr].filetype = "lathe"
  vim.b[bufnr].lathe_chat = chat.id
  keymaps.set(chat, actions)
  local group = api.nvim_create_augroup("lathe.chat." .. chat.id, {})
  require("lathe.chat.draw.highlight").start(chat.render, group)
  require("lathe.chat.draw.input_hints").watch(chat.render, group)
  require("lathe.chat.input.completion").start(chat, group)
  api.nvim_create_autocmd("BufUnload", {
    group = group,
    buffer = bufnr,
    desc = "lathe: a chat without its buffer is closed",
    callback = function()
      local snapshot = chat.render:is_alive() and chat.render:snapshot()
      -- At once, so that nothing more runs for a chat that is gone.
      chat:stop()
      vim.schedule(function()
        -- `:edit` unloads the buffer only to read it again, and there is no file to read. Others unload it and leave it so:
        -- `:quit` in the last window does, when Neovim stays because of another buffer. A deleted one has no variables.
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
          require("lathe.chat.draw.highlight").start(chat.render)
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
        require("lathe.chat.ask.question").reflow(chat)
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
          require("lathe.chat.draw.folds").dress(chat.render, api.nvim_get_current_win())
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

---@param chat lathe.Chat
local function add_defaults(chat)
  chat.system_prompt = system_prompts.main(chat)
  for _, name in ipairs(chat.config.tools.opts.default_tools) do
    local fault = chat.tool_registry:expect(name)
    if fault then
      notify.fault(fault, "warn", "default_tools: ")
    end
  end
end

---Closes chats that were opened before the plugin was reloaded: this module does not know them.
local function wipe_left_behind()
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if vim.bo[bufnr].filetype == "lathe" and api.nvim_buf_get_name(bufnr):find("^lathe://%d+$") then
      pcall(api.nvim_buf_delete, bufnr, { force = true })
    end
  end
end

---The library at work, for what the user asked for.
---@return lathe.Core? lib
---@return string? message why there is none; the user has been told
function M.need()
  local lib, message = core.need()
  if lib and not started then
    wipe_left_behind()
    require("lathe.chat.input.context").watch()
    lib.start(effects.performers(chats))
    lib.keep_media({ folder = vim.fs.joinpath(vim.fn.stdpath("cache"), "lathe", "media") })
    lib.keep_outputs({ folder = vim.fs.joinpath(vim.fn.stdpath("state"), "lathe", "output") })
    lib.keep_chats({ folder = saving.folder() })
    approvals.keep(lib)
    started = true
  end
  return lib, message
end

---Goes on with a chat that was read from a file.
---@param chat lathe.Chat
---@param loaded lathe.LoadedChat
local function restore(chat, loaded)
  chat.system_prompt = system_prompts.main(chat)
  local save = chat.config.save
  chat.saved_id = core.lib.restore_chat({ chat = chat.id, loaded = loaded.loaded, save = save })
  for _, fault in ipairs(chat.tool_registry:restore(loaded.tools, loaded.groups)) do
    notify.fault(fault, "warn")
  end
  if save then
    saving.begin(chat)
  end
end

---Opens a chat.
---@param opts lathe.ChatOpts?
---@return lathe.Chat? chat
---@return string? message why there is none
function M.new(opts)
  opts = opts or {}
  local lib, message = M.need()
  if not lib then
    return nil, message
  end
  local all = config.get()
  local settings = all.interactions.chat
  local bufnr = create_buffer()
  local chat = setmetatable({
    bufnr = bufnr,
    wanted = { adapter = opts.adapter, model = opts.model },
    config = settings,
    display = all.display,
    limits = all.tool_output,
    cwd = opts._cwd or vim.fn.getcwd(),
    messages = {},
    stderr = {},
    calls = {},
    calls_by_wire = {},
    questions = {},
    given = {},
    is_running = false,
    is_auto = false,
    is_shown = false,
    turn = 0,
    opens_for_questions = opts._opens_for_questions,
    agent = opts.agent or "build",
  }, Chat)
  chat:find_adapter()
  chat.id = lib.open_chat({
    auto_submit_success = settings.tools.opts.auto_submit_success,
    auto_submit_errors = settings.tools.opts.auto_submit_errors,
    max_parallel = settings.tools.opts.max_parallel,
    max_lines = all.tool_output.max_lines,
    max_bytes = all.tool_output.max_bytes,
    project = project_of(chat.cwd),
  })
  chats[chat.id] = chat
  chat.render = render.new(bufnr, {
    user = chat:title("user"),
    limits = all.tool_output,
    icons = block.icons(all.display.icons),
    key = function(action, mode)
      return keymaps.key(settings, action, mode)
    end,
    fold_output = all.display.chat.fold_output,
    knows = function(name)
      return chat.tool_registry:knows(name)
    end,
  })
  chat.tool_registry = registry.new(chat)
  chat.tools = calls.view(chat)
  dress_buffer(chat)
  events.emit("ChatCreated", chat)
  if opts._restored then
    restore(chat, opts._restored)
  else
    if settings.save and not opts._unlisted then
      saving.begin(chat)
    end
    add_defaults(chat)
  end
  for _, name in ipairs(opts.tools or {}) do
    local fault = chat.tool_registry:expect(name)
    if fault then
      notify.fault(fault, "warn")
    end
  end
  for _, entry in ipairs(opts.messages or {}) do
    chat:add_message(entry, entry.opts)
  end
  if opts.prompt then
    chat:add_buf_message({ role = "user", content = opts.prompt })
  end
  if not opts._unlisted then
    last = chat
  end
  if not opts.hidden then
    chat:open()
  end
  if opts.submit then
    chat:submit()
  end
  return chat
end

---@return lathe.Chat? chat the one used last
function M.last()
  return last
end

---@return lathe.Chat? chat the newest of those in which something runs
function M.running()
  local newest
  for _, chat in pairs(chats) do
    if chat.is_running and not chat.is_closing and (not newest or chat.id > newest.id) then
      newest = chat
    end
  end
  return newest
end

---@param id string
---@return lathe.Chat? chat the one that is saved under it
function M.saved_as(id)
  for _, chat in pairs(chats) do
    if chat.saved_id == id and not chat.is_closing then
      return chat
    end
  end
end

---@param bufnr integer?
---@return lathe.Chat?
function M.get(bufnr)
  bufnr = (bufnr == nil or bufnr == 0) and api.nvim_get_current_buf() or bufnr
  for _, chat in pairs(chats) do
    if chat.bufnr == bufnr and not chat.is_closing then
      return chat
    end
  end
end

-- Windows ------------------------------------------------------------------------------------------------------------

---Whether a window of this tab page shows the chat.
---@return boolean
function Chat:is_visible()
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
  if last ~= self and not self.opens_for_questions then
    last = self
  end
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
  local pictures
  if message.role == "user" and type(message.images) == "table" then
    local problems
    pictures, problems = require("lathe.chat.input.pictures").read(message.images)
    for _, problem in ipairs(problems) do
      notify.warn("a picture is left out: " .. problem)
      content = ("%s\n[a picture is missing: %s]"):format(content, problem)
    end
  end
  local fields = { chat = self.id, role = message.role, content = content, visible = visible, attachments = pictures }
  core.lib.add_message(fields)
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
    self.render:open_role("llm", self:title("llm"))
    self.render:add_lines(content)
  end
end

---Adds something for the model to know, not shown in full.
---@param message { role: "user"|"system"?, content: string }
---@param source string? where it is from
---@param id string? what it is
function Chat:add_context(message, source, id)
  self:add_message({ role = message.role or "user", content = message.content }, { visible = false })
  self.render:add_lines(("> Context: %s"):format(id or source or "text"))
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
    if not self:is_visible() then
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
    local key = require("lathe.chat.keymaps").key(self.config, "auto") or ":Lathe auto off"
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
  if last == self then
    last = nil
    for _, other in pairs(chats) do
      if not other.is_closing and not other.opens_for_questions and (not last or other.id > last.id) then
        last = other
      end
    end
  end
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
  chat.messages, chat.given, chat.stderr = {}, {}, {}
  chat.last_llm, chat.taken = nil, nil
  chat.render:clear()
  if not chat.is_closing then
    add_defaults(chat)
  end
end

return M
