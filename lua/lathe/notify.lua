-- Messages to the user; the only caller of `vim.notify`. What is only for developers goes to `lathe.log`.
local M = {}

local log = require("lathe.log")

---Whether `vim.notify` is Neovim's own. A replacement may be a table that can be called. Neovim's own stands in the file of
---`vim.schedule_wrap`, whose name differs between versions.
---@return boolean
local function is_plain()
  local is_function = type(vim.notify) == "function"
  return is_function and debug.getinfo(vim.notify, "S").source == debug.getinfo(vim.schedule_wrap, "S").source
end

---Neovim's own `vim.notify` stops the editor at a "Press ENTER" when a text is longer than its line, or comes before the
---one before it was drawn over. Plugins that replace it show all of it.
---@param text string
---@param level integer
---@return string
local function fit(text, level)
  if not is_plain() then
    return text
  end
  pcall(vim.cmd.redraw)
  local width = vim.v.echospace
  if #text <= width and not text:find("\n", 1, true) then
    return text
  end
  log[level == vim.log.levels.INFO and "debug" or "warn"](text)
  local rest = "… (:Lathe log)"
  return vim.fn.strcharpart(text:match("^[^\n%z]*"), 0, math.max(width - #rest, 10)) .. rest
end

---Shows a message on the main loop, wherever it comes from.
---@param text string
---@param level integer one of `vim.log.levels`
local function show(text, level)
  -- Scheduled: callers may be in a fast event or in the middle of a buffer write.
  -- What others have written may hold anything, and where a text ends at a NUL half of it would be shown.
  text = text:gsub("%z", "?")
  vim.schedule(function()
    vim.notify(fit("lathe: " .. text, level), level, { title = "lathe" })
  end)
end

---Tells something.
---@param text string
function M.info(text)
  show(text, vim.log.levels.INFO)
end

---Tells that something did not go as it should.
---@param text string
function M.warn(text)
  show(text, vim.log.levels.WARN)
end

---Tells that something has failed.
---@param text string
function M.error(text)
  show(text, vim.log.levels.ERROR)
end

local told = {} ---@type table<string, true>

---Tells something once in a session.
---@param text string
---@param level "warn"|"error"
function M.once(text, level)
  if not told[text] then
    told[text] = true
    M[level](text)
  end
end

---Tells of a fault, unless that was done.
---@param fault lathe.Fault
---@param level "warn"|"error"
---@param where string? what is put before its message
function M.fault(fault, level, where)
  if not fault.told then
    fault.told = true
    M[level]((where or "") .. fault.message)
  end
end

---Shows what the user asked for, such as a list: whole, and as long as it takes.
---@param text string
function M.show(text)
  vim.schedule(function()
    vim.api.nvim_echo({ { text } }, true, {})
  end)
end

return M
