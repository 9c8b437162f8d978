-- Messages to the user; the only caller of `vim.notify`. What is only for developers goes to `lathe.log`.
local M = {}

---Shows a message on the main loop, wherever it comes from.
---@param text string
---@param level integer one of `vim.log.levels`
local function show(text, level)
  -- Scheduled: callers may be in a fast event or in the middle of a buffer write.
  vim.schedule(function()
    vim.notify("lathe: " .. text, level, { title = "lathe" })
  end)
end

---@param text string
function M.info(text)
  show(text, vim.log.levels.INFO)
end

---@param text string
function M.warn(text)
  show(text, vim.log.levels.WARN)
end

---@param text string
function M.error(text)
  show(text, vim.log.levels.ERROR)
end

return M
