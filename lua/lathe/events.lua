-- `User` autocommands that tell other plugins what happened. Nothing of ours depends on them, and what goes wrong in one
-- keeps neither us nor the others from going on.
local M = {}

local log = require("lathe.log")
local notify = require("lathe.notify")
local readable = require("lathe.readable").text

local api = vim.api
local now = vim.uv.now

-- Who listens --------------------------------------------------------------------------------------------------------

local group = api.nvim_create_augroup("lathe.events", {})

local looked_ms = -1
local all = {} ---@type table[] autocommands, in the order in which Neovim would run them
local by_name = {} ---@type table<string, table[]>
local gone = {} ---@type table<integer, true> those that were deleted since

local function look()
  looked_ms, by_name, gone = now(), {}, {}
  all = vim.tbl_filter(function(autocmd)
    return autocmd.group ~= group
  end, api.nvim_get_autocmds({ event = "User" }))
end

---@param pattern string
---@param name string
---@return boolean
local function matches(pattern, name)
  if pattern == name then
    return true
  end
  return pattern:find("[*?%[{,\\]") ~= nil and vim.fn.match(name, vim.fn.glob2regpat(pattern)) >= 0
end

---The autocommands for an event.
---@param name string
---@return table[]
local function listeners(name)
  local list = by_name[name]
  if not list then
    list = vim.tbl_filter(function(autocmd)
      return autocmd.buflocal or matches(autocmd.pattern, name)
    end, all)
    by_name[name] = list
  end
  return list
end

---Whether anybody may listen to an event. Looked up once per pass of the event loop: two of these events come with
---every call, their data may be large, and most users listen to none.
---@param name string
---@return boolean
local function is_heard(name)
  if vim.in_fast_event() then
    return true -- that is looked at when it is told, later
  end
  if now() ~= looked_ms then
    look()
  end
  return listeners(name)[1] ~= nil
end

-- Telling them -------------------------------------------------------------------------------------------------------

local told = {} ---@type table<string, true>

---Tells of an error in an autocommand: once, since the event comes again and again.
---@param name string
---@param err any
local function tell(name, err)
  local text = readable(err)
  log.warn(("an autocommand for %s failed: %s"):format(name, text))
  -- Of a text the rest is a traceback; a table is no use without it.
  local first = type(err) == "string" and text:match("^[^\n]*") or text:gsub("%s+", " ")
  local key = name .. "\n" .. first
  if not told[key] then
    told[key] = true
    notify.error(("an autocommand for %s failed: %s"):format(name, first))
  end
end

---@param autocmd table
---@param event table what Neovim tells its callbacks
local function run(autocmd, event)
  if gone[autocmd.id] or (autocmd.buflocal and autocmd.buffer ~= event.buf) then
    return
  end
  local function delete()
    gone[autocmd.id] = true
    pcall(api.nvim_del_autocmd, autocmd.id)
  end
  if autocmd.once then
    delete()
  end
  local args = vim.tbl_extend("force", event, {
    id = autocmd.id,
    group = autocmd.group,
    data = vim.deepcopy(event.data),
  })
  local ok, result = pcall(autocmd.callback, args)
  if not ok then
    tell(event.match, result)
  elseif result == true then
    delete()
  end
end

---@param autocmd table
---@return boolean
local function is_lua(autocmd)
  return type(autocmd.callback) == "function" and autocmd.id ~= nil
end

---Tells them inside of an autocommand of ours: there everything is as Neovim makes it for theirs.
---@param list table[]
---@param name string
---@param opts table
local function run_all(list, name, opts)
  local is_told = false
  api.nvim_create_autocmd("User", {
    group = group,
    pattern = name,
    once = true,
    nested = true,
    callback = function(event)
      if is_told then
        return -- one of them has caused the same event again
      end
      is_told = true
      for _, autocmd in ipairs(list) do
        run(autocmd, event)
      end
    end,
  })
  local ok, err = pcall(api.nvim_exec_autocmds, "User", vim.tbl_extend("force", opts, { group = group }))
  api.nvim_clear_autocmds({ group = group })
  if not ok then
    tell(name, err)
  end
end

---@param name string
---@param data table
local function exec(name, data)
  if vim.in_fast_event() then
    return M.fire(name, data)
  end
  local list = listeners(name)
  local opts = { pattern = name, data = data, modeline = false }
  -- Neovim would show the error of each, and wait for a key.
  if vim.iter(list):all(is_lua) then
    return run_all(list, name, opts)
  end
  -- Only Neovim itself can run a command of a script. Called so, its first error comes here.
  local ok, err = pcall(vim.fn.call, function()
    api.nvim_exec_autocmds("User", opts)
  end, {})
  if not ok then
    tell(name, err)
  end
end

---Tells who listens, also to what is registered at this moment.
---@param name string
---@param data table
function M.fire(name, data)
  if vim.in_fast_event() then
    return vim.schedule(function()
      M.fire(name, data)
    end)
  end
  look()
  if listeners(name)[1] then
    exec(name, data)
  end
end

local observer ---@type fun(name: string, data: table)?

---Has a function called after all others with each event of a chat, and with what is no event of ours.
---@param fn fun(name: string, data: table)
function M.observe(fn)
  observer = fn
end

---@param name string
---@param data table
local function observed(name, data)
  local ok, err = pcall(observer --[[@as function]], name, data)
  if not ok then
    log.warn(("what follows Lathe%s failed: %s"):format(name, readable(err)))
  end
end

---Tells about a chat.
---@param name string without the prefix, such as "ChatCreated"
---@param chat lathe.Chat
---@param more table? further fields of `data`
function M.emit(name, chat, more)
  if chat.is_silent then
    return
  end
  local data = more or {}
  data.bufnr, data.chat_id = chat.bufnr, chat.id
  M.fire("Lathe" .. name, data)
  if observer then
    observed(name, data)
  end
end

---Notes what is no event of ours, for who observes them.
---@param name "streaming"|"restored"|"cleared"|"context"|"model"|"adapter"
---@param chat lathe.Chat
---@param more table?
function M.note(name, chat, more)
  if observer and not chat.is_silent then
    local data = more or {}
    data.bufnr, data.chat_id = chat.bufnr, chat.id
    observed(name, data)
  end
end

---Tells about something that belongs to no call: a resource is read, a prompt is made.
---@param name "ToolStarted"|"ToolFinished"
---@param data table
function M.emit_item(name, data)
  if is_heard("Lathe" .. name) then
    exec("Lathe" .. name, data)
  end
end

---Tells about a call. Cheap when nobody listens.
---@param name string without the prefix, such as "ToolStarted"
---@param chat lathe.Chat
---@param call lathe.Call
---@param status string?
---@param duration_ms integer?
function M.emit_call(name, chat, call, status, duration_ms)
  local is_wanted = is_heard("Lathe" .. name)
  if not is_wanted and not observer then
    return
  end
  local data = {
    bufnr = chat.bufnr,
    chat_id = chat.id,
    id = call.id,
    tool = call.name,
    source = call.source,
    server = call.server,
    code = status and call.code or nil,
    args = call.args,
    status = status,
    duration_ms = duration_ms,
  }
  if is_wanted then
    exec("Lathe" .. name, data)
  end
  if observer and not chat.is_silent then
    observed(name, data)
  end
end

return M
