-- The text of a memory file as the model sees it, and as it stands in the file: line ends, the mark at its beginning, and what
-- is open in a buffer.
local M = {}

local api = vim.api
local uv = vim.uv

local MARK = "\239\187\191" -- of UTF-8

---@class lathe.MemoryText
---@field text string lines end with a line feed
---@field has_mark boolean
---@field has_returns boolean whether the lines of the file end with carriage return and line feed

---@param text string
---@return boolean
local function has_returns(text)
  local _, line_feeds = text:gsub("\n", "")
  local _, both = text:gsub("\r\n", "")
  return both > 0 and both == line_feeds
end

---Lines of the model's, in the form that all of them have here.
---@param text string
---@return string
function M.plain(text)
  return (text:gsub("\r\n", "\n"))
end

---Reads what stands in a file.
---@param bytes string
---@return lathe.MemoryText
function M.read(bytes)
  local has_mark = bytes:sub(1, #MARK) == MARK
  local text = has_mark and bytes:sub(#MARK + 1) or bytes
  local returns = has_returns(text)
  return { text = returns and M.plain(text) or text, has_mark = has_mark, has_returns = returns }
end

---What is to stand in a file.
---@param memory lathe.MemoryText
---@param text string
---@return string bytes
function M.write(memory, text)
  if memory.has_returns then
    text = M.plain(text):gsub("\n", "\r\n")
  end
  return (memory.has_mark and MARK or "") .. text
end

---The buffer in which a file is open.
---@param path string
---@return integer? bufnr
local function buffer_of(path)
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].buftype == "" and api.nvim_buf_get_name(bufnr) or ""
    if name ~= "" and (name == path or uv.fs_realpath(name) == path) then
      return bufnr
    end
  end
end

---Whether the user has changes of a file in a buffer that are not saved: then its file is not what they see.
---@param path string
---@return boolean
function M.is_being_edited(path)
  local bufnr = buffer_of(path)
  return bufnr ~= nil and vim.bo[bufnr].modified
end

---Has the buffer of a file read it again, as Neovim does by itself later: the cursor and what can be undone stay.
---@param path string
function M.reload(path)
  local bufnr = buffer_of(path)
  if not bufnr or vim.bo[bufnr].modified then
    return
  end
  -- Without it the user would be asked.
  local own = api.nvim_get_option_value("autoread", { scope = "local", buf = bufnr })
  api.nvim_set_option_value("autoread", true, { scope = "local", buf = bufnr })
  pcall(vim.cmd, { cmd = "checktime", args = { tostring(bufnr) }, mods = { emsg_silent = true } })
  if api.nvim_buf_is_valid(bufnr) then
    api.nvim_set_option_value("autoread", own, { scope = "local", buf = bufnr })
  end
end

return M
