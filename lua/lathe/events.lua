-- `User` autocommands that tell other plugins what happened. Nothing of ours depends on them.
local M = {}

local api = vim.api
local now = vim.uv.now

local checked_ms = -1
local heard = {} ---@type table<string, true> names that somebody listens to
local heard_all = false -- somebody listens to a pattern

---Whether anybody may listen to an event. Looked up once per pass of the event loop: two of these events come with
---every call, their data may be large, and most users listen to none.
---@param name string
---@return boolean
local function is_heard(name)
  local time_ms = now()
  if time_ms ~= checked_ms then
    checked_ms, heard, heard_all = time_ms, {}, false
    for _, autocmd in ipairs(api.nvim_get_autocmds({ event = "User" })) do
      if autocmd.pattern:find("[*?%[{,]") then
        heard_all = true
      else
        heard[autocmd.pattern] = true
      end
    end
  end
  return heard_all or heard[name] or false
end

---@param name string
---@param data table
local function exec(name, data)
  local ok, err = pcall(api.nvim_exec_autocmds, "User", { pattern = name, data = data, modeline = false })
  if not ok then
    require("lathe.log").warn(("an autocommand for %s failed: %s"):format(name, tostring(err)))
  end
end

---Tells about a chat.
---@param name string without the prefix, such as "ChatCreated"
---@param chat lathe.Chat
---@param more table? further fields of `data`
function M.emit(name, chat, more)
  local data = more or {}
  data.bufnr, data.chat_id = chat.bufnr, chat.id
  exec("Lathe" .. name, data)
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
  if not is_heard("Lathe" .. name) then
    return
  end
  exec("Lathe" .. name, {
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
  })
end

return M
