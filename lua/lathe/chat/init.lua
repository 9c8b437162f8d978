-- Opening chats, and the one that is meant. What can be done with a chat is in `object.lua`, its buffer is made in
-- `chat_buffer.lua`.
local M = {}

local approvals = require("lathe.chat.ask.approvals")
local block = require("lathe.chat.draw.block")
local calls = require("lathe.tools.call")
local chat_buffer = require("lathe.chat.chat_buffer")
local config = require("lathe.config")
local context = require("lathe.chat.input.context")
local core = require("lathe.core")
local effects = require("lathe.chat.effects")
local events = require("lathe.events")
local keymaps = require("lathe.chat.keymaps")
local notify = require("lathe.notify")
local object = require("lathe.chat.object")
local open_chats = require("lathe.chat.open_chats")
local registry = require("lathe.tools.registry")
local render = require("lathe.chat.draw.render")
local saving = require("lathe.chat.saving")
local system_prompts = require("lathe.chat.system_prompts")

local started = false

M.last = open_chats.last
M.running = open_chats.running
M.saved_as = open_chats.saved_as
M.get = open_chats.get

---The project that approvals are remembered for: the repository around the working directory, else that itself.
---@param cwd string
---@return string? nil: for the chat only
local function project_of(cwd)
  if config.get().permission_memory ~= "project" or cwd == "" then
    return nil
  end
  return vim.uv.fs_realpath(vim.fs.root(cwd, ".git") or cwd)
end

---The library at work, for what the user asked for.
---@return lathe.Core? lib
---@return string? message why there is none; the user has been told
function M.need()
  local lib, message = core.need()
  if lib and not started then
    chat_buffer.wipe_left_behind()
    context.watch()
    lib.start(effects.performers(open_chats.by_id))
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
  chat.prompt_order = loaded.prompts
  for _, fault in ipairs(chat.tool_registry:restore(loaded.tools, loaded.groups)) do
    notify.fault(fault, "warn")
  end
  if save then
    saving.begin(chat)
  end
end

---What a chat is opened with besides what callers from outside may say.
---@class lathe.ChatSetup
---@field cwd string? default: the working directory
---@field loaded lathe.LoadedChat? a saved chat to go on with
---@field is_single_call boolean? a tool runs in it without a model: nobody's last chat, not saved, shown when it asks
---@field is_silent boolean? nobody hears of it: no event, no message
---@field run_opts { timeout: integer?, caller: any }? of that tool
---@field on_call_finished fun(call: lathe.Call, status: lathe.CallStatus)?
---@field on_turn_finished fun(how: string)?

---Opens a chat.
---@param opts lathe.ChatOpts
---@param setup lathe.ChatSetup
---@return lathe.Chat? chat
---@return string? message why there is none
function M.create(opts, setup)
  local lib, message = M.need()
  if not lib then
    return nil, message
  end
  local all = config.get()
  local settings = all.interactions.chat
  local bufnr = chat_buffer.create()
  local chat = object.new({
    bufnr = bufnr,
    wanted = { adapter = opts.adapter, model = opts.model },
    config = settings,
    display = all.display,
    limits = all.tool_output,
    cwd = setup.cwd or vim.fn.getcwd(),
    messages = {},
    stderr = {},
    calls = {},
    calls_by_wire = {},
    cut_files = {},
    questions = {},
    context_items = {},
    opts = opts,
    given = {},
    is_running = false,
    is_auto = false,
    is_shown = false,
    turn = 0,
    opens_for_questions = setup.is_single_call,
    is_silent = setup.is_silent,
    run_opts = setup.run_opts,
    on_call_finished = setup.on_call_finished,
    on_turn_finished = setup.on_turn_finished,
    agent = opts.agent or "build",
  })
  chat:find_adapter()
  chat.id = lib.open_chat({
    auto_submit_success = settings.tools.opts.auto_submit_success,
    auto_submit_errors = settings.tools.opts.auto_submit_errors,
    max_parallel = settings.tools.opts.max_parallel,
    max_lines = all.tool_output.max_lines,
    max_bytes = all.tool_output.max_bytes,
    project = project_of(chat.cwd),
  })
  open_chats.add(chat)
  chat.render = render.new(bufnr, {
    user = chat:heading("user"),
    limits = all.tool_output,
    icons = block.icons(all.display.icons),
    key = function(action, mode)
      return keymaps.key(settings, action, mode)
    end,
    fold_output = all.display.chat.fold_output,
    knows = function(name)
      return chat.tool_registry:real_name(name) ~= nil
    end,
  })
  chat.tool_registry = registry.new(chat)
  chat.tools = calls.view(chat)
  chat_buffer.dress(chat)
  events.emit("ChatCreated", chat)
  if setup.loaded then
    restore(chat, setup.loaded)
    events.note("restored", chat)
  else
    if settings.save and not setup.is_single_call then
      saving.begin(chat)
    end
    object.begin(chat)
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
  open_chats.use(chat)
  if not opts.hidden then
    chat:open()
  end
  if opts.submit then
    chat:submit()
  end
  return chat
end

-- What `chat()` takes.
local known = {
  adapter = true,
  agent = true,
  hidden = true,
  messages = true,
  model = true,
  prompt = true,
  submit = true,
  tools = true,
}

---Opens a chat for code from outside. An option that is not known is told and has no effect.
---@param opts lathe.ChatOpts?
---@return lathe.Chat? chat
---@return string? message why there is none
function M.new(opts)
  local given, unknown = {}, {}
  for key, value in pairs(opts or {}) do
    if known[key] then
      given[key] = value
    else
      unknown[#unknown + 1] = tostring(key)
    end
  end
  table.sort(unknown)
  for _, key in ipairs(unknown) do
    local names = vim.tbl_keys(known)
    table.sort(names)
    notify.warn(("chat: %s: unknown option; there are %s"):format(key, table.concat(names, ", ")))
  end
  return M.create(given, {})
end

return M
