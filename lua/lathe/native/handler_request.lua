-- What handlers are given besides the response builder: the request object, with a snapshot of the editor.
local M = {}

local config = require("lathe.config")
local log = require("lathe.log")

local api = vim.api

---@param bufnr integer
---@return lathe.native.Buffer
local function buffer_info(bufnr)
  local info = vim.fn.getbufinfo(bufnr)[1]
  local win = info.windows[1]
  local cursor
  if win then
    cursor = api.nvim_win_get_cursor(win)
  end
  return {
    bufnr = bufnr,
    name = info.name,
    filename = vim.fs.abspath(info.name),
    filetype = vim.bo[bufnr].filetype,
    line_count = info.loaded == 1 and api.nvim_buf_line_count(bufnr) or info.linecount,
    is_visible = win ~= nil,
    is_modified = info.changed == 1,
    is_loaded = info.loaded == 1,
    lastused = info.lastused,
    windows = info.windows,
    winnr = win,
    cursor_pos = cursor,
  }
end

---The buffers that the user works with, as they are now.
---@return lathe.native.EditorInfo
function M.editor_info()
  local buffers, last_active = {}, nil
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if vim.bo[bufnr].buflisted and vim.bo[bufnr].buftype == "" and api.nvim_buf_get_name(bufnr) ~= "" then
      local info = buffer_info(bufnr)
      buffers[#buffers + 1] = info
      if not last_active or info.lastused > last_active.lastused then
        last_active = info
      end
    end
  end
  return { last_active = last_active, buffers = buffers }
end

---@class lathe.native.Signal
---@field is_cancelled fun(): boolean
---@field on_cancel fun(fn: function) called once; at once when it is cancelled already

---A signal, and what fires it.
---@return lathe.native.Signal
---@return fun()
function M.signal()
  local is_cancelled, waiting = false, {}
  local function call(fn)
    local ok, err = pcall(fn)
    if not ok then
      log.error("native: an on_cancel function failed: " .. tostring(err))
    end
  end
  local signal = {
    is_cancelled = function()
      return is_cancelled
    end,
    on_cancel = function(first, second)
      local fn = second or first -- with a colon or a dot
      if type(fn) ~= "function" then
        error("on_cancel: expected a function, got " .. type(fn), 2)
      elseif is_cancelled then
        call(fn)
      else
        waiting[#waiting + 1] = fn
      end
    end,
  }
  return signal,
    function()
      if is_cancelled then
        return
      end
      is_cancelled = true
      local fns = waiting
      waiting = {}
      for _, fn in ipairs(fns) do
        call(fn)
      end
    end
end

---Who calls.
---@param server lathe.native.Server
---@param opts { auto_approve: boolean?, caller: any, chat: lathe.Chat?, tool_call_id: string? }
---@return lathe.native.Caller
function M.caller(server, opts)
  local chat = opts.chat
  local place = { chat = chat, bufnr = chat and chat.bufnr or nil, tool_call_id = opts.tool_call_id }
  local caller = {
    type = server.caller_type or config.get().native.caller_type,
    auto_approve = opts.auto_approve == true,
    meta = {},
    lathe = place,
    codecompanion = place,
  }
  if type(opts.caller) == "string" then
    caller.type = opts.caller
  elseif type(opts.caller) == "table" then
    caller = vim.tbl_extend("force", caller, opts.caller)
  end
  return caller
end

---The request object of a handler.
---@param server lathe.native.Server
---@param fields table what this kind of request has besides
---@param caller lathe.native.Caller
---@return lathe.native.Request
---@return fun() cancel fires its signal
function M.new(server, fields, caller)
  local signal, cancel = M.signal()
  local request = { server = server, caller = caller, editor_info = M.editor_info(), signal = signal }
  for key, value in pairs(fields) do
    request[key] = value
  end
  return request, cancel
end

return M
