-- What `#{buffer}` and `#{selection}` in a message stand for. Their text is read by `buffer_text.lua`; what is done
-- with a message is in `user_message.lua`.
local M = {}

local api = vim.api

local buffer_text = require("lathe.chat.input.buffer_text")
local limit = require("lathe.chat.input.limit")
local mentions = require("lathe.tools.mentions")

-- The window used last -----------------------------------------------------------------------------------------------

local last_win, last_buf = nil, nil ---@type integer?, integer?

-- Terminals, lists, trees and prompts are not what people mean by "the buffer".
local normal_types = { [""] = true, acwrite = true, nowrite = true, help = true }

---@param bufnr integer
---@return boolean
local function is_normal(bufnr)
  return normal_types[vim.bo[bufnr].buftype] ~= nil and vim.bo[bufnr].filetype ~= "lathe"
end

---@param win integer
---@return boolean
local function is_normal_window(win)
  return api.nvim_win_get_config(win).relative == "" and is_normal(api.nvim_win_get_buf(win))
end

local function note()
  local win = api.nvim_get_current_win()
  if is_normal_window(win) then
    last_win, last_buf = win, api.nvim_win_get_buf(win)
  end
end

---Follows which window is used last; called before the first chat opens one.
function M.watch()
  local group = api.nvim_create_augroup("lathe.context", {})
  -- Not when they are entered: what kind a buffer is of may be told after that.
  api.nvim_create_autocmd({ "WinLeave", "BufLeave" }, {
    group = group,
    desc = "lathe: note the window used last",
    callback = note,
  })
  buffer_text.watch(group)
  note()
end

---The buffer of the last normal window.
---@return integer? bufnr
function M.last_buffer()
  note()
  if last_win and api.nvim_win_is_valid(last_win) and is_normal_window(last_win) then
    last_buf = api.nvim_win_get_buf(last_win)
    return last_buf
  elseif last_buf and api.nvim_buf_is_valid(last_buf) and is_normal(last_buf) then
    return last_buf
  end
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if is_normal_window(win) then
      return api.nvim_win_get_buf(win)
    end
  end
end

-- Mentions -----------------------------------------------------------------------------------------------------------

---The buffer that a mention names.
---@param what string its number, path, or the end of its path
---@return integer? bufnr
---@return string? fault
local function named(what)
  local number = tonumber(what:match("^%d+$"))
  if number then
    if number > 0 and number < 2 ^ 31 and api.nvim_buf_is_valid(number) then
      return number
    end
    return nil, ("there is no buffer %s"):format(what)
  end
  local full = vim.fs.normalize(vim.fn.fnamemodify(what, ":p"))
  local ends = {}
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_get_name(bufnr)
    if name == full or name == what then
      return bufnr
    elseif vim.bo[bufnr].buflisted and vim.endswith(name, "/" .. what) then
      ends[#ends + 1] = bufnr
    end
  end
  if #ends > 1 then
    return nil, ("%d buffers are called %s; use a number: %s"):format(#ends, what, table.concat(ends, ", "))
  elseif #ends == 0 then
    return nil, ("there is no buffer %s"):format(what)
  end
  return ends[1]
end

---@class lathe.ContextMention
---@field text string as it was written
---@field from integer byte where it begins
---@field to integer byte where it ends
---@field kind "buffer"|"selection"|"resource"|"plain" plain: a backslash before it makes it text
---@field what string? which buffer; the URI

---@param line string
---@param from integer
---@return string? text
---@return "buffer"|"selection"|"resource"|nil kind
---@return string? what
local function mention_at(line, from)
  local text, what = line:match("^(#{buffer:([^{}]+)})", from)
  if text then
    return text, "buffer", what
  end
  text, what = line:match("^(#{mcp:([^{}]+)})", from)
  if text then
    return text, "resource", what
  elseif line:find("^#{buffer}", from) then
    return "#{buffer}", "buffer"
  elseif line:find("^#{selection}", from) then
    return "#{selection}", "selection"
  end
end

---The mentions on a line outside of code spans.
---@param line string
---@param offset integer bytes before the line
---@param found lathe.ContextMention[]
local function scan(line, offset, found)
  mentions.hashes(line, function(from, is_escaped)
    local text, kind, what = mention_at(line, from)
    if text then
      local first = offset + from
      kind = is_escaped and "plain" or kind
      found[#found + 1] = { text = text, from = first, to = first + #text - 1, kind = kind, what = what }
      return from + #text - 1
    end
  end)
end

---A text as it can stand in a chat's input and mean nothing but itself.
---@param text string
---@return string
function M.plain(text)
  local result = mentions.plain(text, function(line, from)
    return mention_at(line, from) ~= nil
  end)
  return (result:gsub("^%s*/mcp:%S+%s*$", "\\%0"))
end

---The mentions in a message. In code, where `#{…}` may be a language's own, there are none.
---@param text string
---@return lathe.ContextMention[]
local function mentions_in(text)
  local found = {}
  if not text:find("#{", 1, true) then
    return found
  end
  for from, line in mentions.prose(text) do
    scan(line, from - 1, found)
  end
  return found
end

---What can be mentioned.
---@param cwd string
---@param with_names boolean also single buffers
---@return { name: string, description: string }[]
function M.offers(cwd, with_names)
  local bufnr = M.last_buffer()
  local name = bufnr and buffer_text.name(bufnr, cwd) or "there is none"
  local list = { { name = "buffer", description = name } }
  if bufnr and buffer_text.selected(bufnr) then
    list[2] = { name = "selection", description = "in " .. name }
  end
  for _, other in ipairs(with_names and api.nvim_list_bufs() or {}) do
    local is_blank = api.nvim_buf_get_name(other) == "" and not vim.bo[other].modified
    if vim.bo[other].buflisted and is_normal(other) and not is_blank then
      local called = buffer_text.name(other, cwd)
      local is_plain = called:sub(1, 1) ~= "[" and not called:find("[%s{}@#]")
      list[#list + 1] = { name = "buffer:" .. (is_plain and called or other), description = called }
    end
  end
  return list
end

-- Messages -----------------------------------------------------------------------------------------------------------

---@param mention lathe.ContextMention
---@return integer? bufnr nil as well: it is no buffer's
---@return string? fault
local function buffer_of(mention)
  if mention.kind == "resource" or mention.kind == "plain" then
    return nil
  elseif mention.what then
    return named(mention.what)
  end
  local bufnr = M.last_buffer()
  return bufnr, not bufnr and "there is no buffer besides the chat" or nil
end

---Why a message cannot be sent as it is.
---@param text string
---@param cwd string
---@return string[] faults
function M.faults(text, cwd)
  local faults = {}
  for _, mention in ipairs(mentions_in(text)) do
    local bufnr, fault = buffer_of(mention)
    if bufnr and mention.kind == "selection" and not buffer_text.selected(bufnr) then
      fault = ("nothing was selected in %s"):format(buffer_text.name(bufnr, cwd))
    end
    if fault then
      faults[#faults + 1] = mention.text .. ": " .. fault
    end
  end
  return faults
end

---The resources that a message mentions.
---@param text string
---@return string[] uris
function M.resources(text)
  local uris = {}
  for _, mention in ipairs(mentions_in(text)) do
    if mention.kind == "resource" and not vim.list_contains(uris, mention.what) then
      uris[#uris + 1] = mention.what
    end
  end
  return uris
end

---Puts words in the place of mentions.
---@param text string
---@param limits { max_lines: integer, max_bytes: integer }
---@param cwd string
---@param resource fun(uri: string): string? the text of one; nil: it is left out
---@return string text for the model
---@return string[] blocks what the mentions stand for, to follow the text
---@return string[] faults why it cannot be sent
---@return string[] cuts what is missing, for the user
function M.resolve(text, limits, cwd, resource)
  local parts, faults, cuts, blocks, seen = {}, {}, {}, {}, {}
  local at = 1
  local function take_resource(mention)
    local content = resource(mention.what)
    parts[#parts + 1] = text:sub(at, mention.from - 1) .. (content and mention.what or "")
    at = mention.to + 1
    if content and not seen[mention.text] then
      seen[mention.text] = true
      local kept, mark = limit.text(content, limits)
      blocks[#blocks + 1] = kept
      cuts[#cuts + 1] = mark and ("%s is %s"):format(mention.text, mark)
    end
  end
  for _, mention in ipairs(mentions_in(text)) do
    local bufnr, fault = buffer_of(mention)
    local excerpt
    if mention.kind == "resource" then
      take_resource(mention)
    elseif mention.kind == "plain" then
      parts[#parts + 1] = text:sub(at, mention.from - 2)
      at = mention.from
    elseif bufnr then
      excerpt, fault = buffer_text.read(bufnr, mention.kind == "selection" and "selection" or nil, limits, cwd)
    end
    if fault then
      faults[#faults + 1] = mention.text .. ": " .. fault
    elseif excerpt then
      local words = mention.kind == "selection" and "the selection in " or "the buffer "
      parts[#parts + 1] = text:sub(at, mention.from - 1) .. words .. buffer_text.span(excerpt.name)
      at = mention.to + 1
      local key = mention.kind .. bufnr
      if not seen[key] then
        seen[key] = true
        blocks[#blocks + 1] = words:gsub("^t", "T") .. buffer_text.fenced(excerpt, limits.max_bytes)
        local mark = buffer_text.mark(excerpt, limits.max_bytes)
        cuts[#cuts + 1] = mark and ("%s is %s"):format(mention.text, mark)
      end
    end
  end
  parts[#parts + 1] = text:sub(at)
  local result = table.concat(parts):gsub("^\\(%s*/mcp:%S+%s*)$", "%1")
  return result, blocks, faults, cuts
end

return M
