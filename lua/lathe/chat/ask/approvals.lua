-- The list of remembered approvals, and how one is taken back. They are kept in the library.
local M = {}

local block = require("lathe.chat.draw.block")
local core = require("lathe.core")
local notify = require("lathe.notify")

---@param approval lathe.Approval
local function remove(approval)
  core.lib.forget_approval({
    chat = approval.chat_id,
    project = approval.project,
    tool = approval.tool,
    value = approval.value,
    is_pattern = approval.is_pattern,
  })
end

---Says where those of projects are kept.
---@param lib lathe.Core
function M.keep(lib)
  lib.keep_approvals({ folder = vim.fs.joinpath(vim.fn.stdpath("state"), "lathe") })
end

---All remembered approvals: those of open chats, then those of projects.
---@return lathe.Approval[]
---@return string? message why some of them are missing
function M.list()
  local lib, message = core.need()
  if not lib then
    return {}, message
  end
  M.keep(lib)
  local found = lib.approvals()
  for _, approval in ipairs(found) do
    approval.chat_id, approval.chat = approval.chat, nil
    approval.remove = remove
  end
  message, found.message = found.message, nil
  return found, message
end

---@param approval lathe.Approval
---@return string
local function describe(approval)
  local where = approval.project and vim.fn.fnamemodify(approval.project, ":~") or "chat " .. approval.chat_id
  local since = os.date("%Y-%m-%d %H:%M", approval.since)
  local what = M.value(approval.value, approval.tool)
  return ("%s: %s  in %s  since %s"):format(approval.tool, what, where, since)
end

---What an approval is for, in words.
---@param value string? the one command
---@param tool string
---@return string
function M.value(value, tool)
  if not value then
    return "every call of " .. tool
  end
  return ("`%s`"):format(block.one_line(value))
end

---Lets the user choose one to take back.
function M.select()
  local list, message = M.list()
  if message then
    notify.warn(message)
  end
  if not list[1] then
    return notify.info("no approval is remembered")
  end
  vim.ui.select(list, { prompt = "Take back which approval?", format_item = describe }, function(approval)
    if approval then
      approval:remove()
      notify.info(("taken back: %s asks again about %s"):format(approval.tool, M.value(approval.value, approval.tool)))
    end
  end)
end

return M
