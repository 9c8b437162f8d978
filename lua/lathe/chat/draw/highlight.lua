-- Markdown highlighting of a chat. Neovim's markdown parser reads all it is given again after every change, so it is
-- given only what is on the screen and some lines around it: a long chat costs what a short one does. What is no
-- message (calls with their output, questions, reasoning) is left out: nothing in it changes how the rest looks.
local M = {}

local positions = require("lathe.chat.draw.positions")

local api = vim.api

-- Lines parsed above and below what is shown.
local MARGIN = 150
-- More lines than this are never left to the parser, unless they are all on the screen.
local MAX_LINES = 1000
-- The last region reaches so far beyond the text, for what is written there. Neovim goes through all of its rows.
local AHEAD_ROWS, AHEAD_BYTES = 1000, 2 ^ 24

---The rows that windows show, 0-based, end-exclusive.
---@param bufnr integer
---@return integer? first
---@return integer? last
local function shown_rows(bufnr)
  local first, last
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    local info = vim.fn.getwininfo(win)[1]
    first = math.min(first or math.huge, info.topline - 1)
    last = math.max(last or 0, info.botline)
  end
  return first, last
end

---The stretches of text between blocks.
---@param bufnr integer
---@param first integer row
---@param last integer row after the last
---@return { [1]: integer, [2]: integer }[] first row, row after the last
local function stretches(bufnr, first, last)
  local found, at = {}, first
  for _, span in ipairs(positions.among(bufnr, first, last)) do
    if span[1] > at then
      found[#found + 1] = { at, span[1] }
    end
    at = math.max(at, span[2])
  end
  if at < last then
    found[#found + 1] = { at, last }
  end
  return found
end

---What of some stretches lies within some rows.
---@param list { [1]: integer, [2]: integer }[]
---@param first integer
---@param last integer
---@return string
local function within(list, first, last)
  local parts = {}
  for _, span in ipairs(list) do
    local from, to = math.max(span[1], first), math.min(span[2], last)
    if from < to then
      parts[#parts + 1] = from .. "-" .. to
    end
  end
  return table.concat(parts, " ")
end

---What the parser has been given, unless that is everything.
---@param parser vim.treesitter.LanguageTree
---@return { [1]: integer, [2]: integer }[]? stretches
local function given(parser)
  local list = {}
  -- After a change only regions that had been read are known.
  for _, region in pairs(parser:included_regions()) do
    local range = region[1]
    if not range then
      return nil
    end
    list[#list + 1] = { range[1], range[4] + (range[5] > 0 and 1 or 0) }
  end
  table.sort(list, function(a, b)
    return a[1] < b[1]
  end)
  return list
end

---Has the parser read what is on the screen and not much more.
---@param render lathe.Render
function M.cover(render)
  local bufnr = render.bufnr
  local count = api.nvim_buf_line_count(bufnr)
  local first, last = shown_rows(bufnr)
  local parser = first and vim.treesitter.highlighter.active[bufnr] and vim.treesitter.get_parser(bufnr)
  if not parser then
    return
  end
  last = math.min(last, count)
  local has = given(parser)
  if has and has[1] and math.min(has[#has][2], count) - has[1][1] <= math.max(MAX_LINES, last - first) then
    if within(has, first, last) == within(stretches(bufnr, first, last), first, last) then
      return
    end
  end
  first, last = math.max(first - MARGIN, 0), math.min(last + MARGIN, count)
  local regions = {}
  for i, span in ipairs(stretches(bufnr, first, last)) do
    local from = api.nvim_buf_get_offset(bufnr, span[1])
    if span[2] == count then
      local size = api.nvim_buf_get_offset(bufnr, count)
      regions[i] = { { span[1], 0, from, count + AHEAD_ROWS, 0, size + AHEAD_BYTES } }
    else
      regions[i] = { { span[1], 0, from, span[2], 0, api.nvim_buf_get_offset(bufnr, span[2]) } }
    end
  end
  parser:set_included_regions(regions)
end

---Starts it. A Neovim without parsers shows plain text.
---@param render lathe.Render
---@param group integer? of autocommands; nil: they are there
function M.start(render, group)
  if not pcall(vim.treesitter.start, render.bufnr, "markdown") then
    return
  end
  local function cover()
    if render:is_alive() then
      M.cover(render)
    end
  end
  cover()
  if group then
    api.nvim_create_autocmd({ "WinScrolled", "BufWinEnter" }, {
      group = group,
      buffer = render.bufnr,
      desc = "lathe: highlight what is shown",
      callback = cover,
    })
  end
end

return M
