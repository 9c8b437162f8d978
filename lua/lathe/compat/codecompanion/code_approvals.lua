-- `…chat.tools.approvals`: what code has approved, or asks about. The approvals are those that the user's answers make, too.
local M = {}

local core = require("lathe.core")

---@param bufnr integer?
---@return lathe.Chat?
local function chat_of(bufnr)
  return require("lathe").get_chat(bufnr)
end

---@param chat lathe.Chat
---@param tool string
---@return boolean
local function is_by_command(chat, tool)
  local definition = chat.tool_registry:resolve(tool)
  return definition ~= nil and definition.opts.require_cmd_approval == true
end

---Runs a tool, or one of its commands, without a question from now on.
---@param bufnr integer
---@param args { tool_name: string, cmd: string? }
function M.always(_, bufnr, args)
  local chat = chat_of(bufnr)
  if chat and args and type(args.tool_name) == "string" then
    local cmd = args.cmd and is_by_command(chat, args.tool_name) and args.cmd or nil
    core.lib.approve({ chat = chat.id, tool = args.tool_name, value = cmd })
  end
end

---Whether a tool or a command of it was approved; without a tool: whether the chat is in auto mode.
---@param bufnr integer
---@param args { tool_name: string?, cmd: string? }?
---@return boolean
function M.is_approved(_, bufnr, args)
  local chat = chat_of(bufnr)
  if not chat then
    return false
  end
  local tool = args and args.tool_name
  local definition = tool and chat.tool_registry:resolve(tool)
  if chat.is_auto then
    return definition == nil or definition.opts.protect ~= true
  end
  for _, approval in ipairs(tool and core.lib.approvals() or {}) do
    local is_this = approval.chat == chat.id and approval.tool == tool
    if is_this and (approval.value == nil or approval.value == args.cmd) then
      return true
    end
  end
  return false
end

---Turns auto mode on, or off.
---@param bufnr integer?
---@return boolean is_on
function M.toggle_yolo_mode(_, bufnr)
  local chat = chat_of(bufnr)
  if not chat then
    return false
  end
  chat:set_auto(not chat.is_auto)
  return chat.is_auto
end

---Takes everything back that was approved in a chat.
---@param bufnr integer
function M.reset(_, bufnr)
  local chat = chat_of(bufnr)
  if not chat then
    return
  end
  chat:set_auto(false)
  for _, approval in ipairs(require("lathe").approvals()) do
    if approval.chat_id == chat.id then
      approval:remove()
    end
  end
end

---What is approved, by the chat's buffer.
---@return table<integer, table<string, true>>
function M.list()
  local list = {}
  for _, approval in ipairs(require("lathe").approvals()) do
    local chat = approval.chat_id and require("lathe.chat.open_chats").by_id[approval.chat_id]
    if chat then
      list[chat.bufnr] = list[chat.bufnr] or {}
      list[chat.bufnr][approval.tool] = true
    end
  end
  return list
end

return M
