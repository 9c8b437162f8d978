-- How the chat's buffer is written to: outside the user's undo, whatever options others have set on it.
local M = {}

local api = vim.api

---Runs `fn` with options that others set on the buffer set aside.
---@param bufnr integer
---@param options table<string, any>
---@param fn fun()
local function with_options(bufnr, options, fn)
  local kept, bo = {}, vim.bo[bufnr]
  for name, value in pairs(options) do
    local own = bo[name]
    if own ~= value then
      kept[name], bo[name] = own, value
    end
  end
  local ok, err = pcall(fn)
  for name, value in pairs(kept) do
    bo[name] = value
  end
  if not ok then
    error(err, 0)
  end
end

---Runs `fn`, whose changes the user can undo.
---@param render lathe.Render
---@param fn fun()
function M.edit(render, fn)
  render.is_writing = true
  local ok, err = pcall(with_options, render.bufnr, { modifiable = true, readonly = false }, fn)
  render.is_writing = false
  if not ok then
    error(err, 0)
  end
end

---Runs `fn` outside the user's undo: setting the level closes their open undo step, and what is written then is none.
---A user or another plugin may have made the buffer unmodifiable, or read-only, where the first write would wait for
---a second with its warning.
---@param render lathe.Render
---@param fn fun()
function M.write(render, fn)
  render.is_writing = true
  local ok, err = pcall(with_options, render.bufnr, { undolevels = -1, modifiable = true, readonly = false }, fn)
  render.is_writing = false
  if not ok then
    error(err, 0)
  end
end

---@param bufnr integer
---@param row integer
---@return string? line
function M.line(bufnr, row)
  return row >= 0 and api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or nil
end

return M
