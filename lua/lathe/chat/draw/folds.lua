-- Folds of long blocks, and the other options of windows that show a chat. The folds are Vim's own, made by hand: `zo`
-- and its like do what they do everywhere. Only what is local to a window that shows a chat is set.
local M = {}

local block = require("lathe.chat.draw.block")
local positions = require("lathe.chat.draw.positions")

local api = vim.api

local ns_range = api.nvim_create_namespace("lathe.range")
local ns_look = api.nvim_create_namespace("lathe.look")

-- A call with more below its own line is folded. A single line may be as long as many.
local MAX_OPEN_LINES, MAX_OPEN_BYTES = 8, 2000
-- So much of a folded line is kept where its facts do not fit beside it.
local MIN_TEXT_CELLS = 24
-- So many folds are made at a time where a window is opened on a long chat.
local MAX_FOLDS = 200

-- stylua: ignore
local options = {
  -- Without smooth scrolling a paragraph that is taller than the window is not shown at all while the cursor is below
  -- it.
  smoothscroll = true, wrap = true, linebreak = true, breakindent = true, number = false, relativenumber = false,
  foldmethod = "manual", foldenable = true, foldtext = "v:lua.require'lathe.chat.draw.folds'.text()",
}

---@param bufnr integer
---@param row integer
---@param end_row integer
---@return integer bytes of the rows after the first
local function bytes_below(bufnr, row, end_row)
  local n_rows = api.nvim_buf_line_count(bufnr) -- while the buffer is read again, marks may point behind its end
  local function offset(at)
    return api.nvim_buf_get_offset(bufnr, math.min(at, n_rows))
  end
  return offset(end_row + 1) - offset(row + 1)
end

---Whether a block is folded when it is done.
---@param render lathe.Render
---@param state string
---@param row integer
---@param end_row integer
---@return boolean
function M.is_long(render, state, row, end_row)
  local n_lines = end_row - row
  if n_lines > MAX_OPEN_LINES then
    return render.fold_output or state == "reasoning"
  elseif state == "reasoning" then
    return n_lines > 1
  end
  return render.fold_output and n_lines > 0 and bytes_below(render.bufnr, row, end_row) > MAX_OPEN_BYTES
end

---'foldtext': the line of the block, with how much there is below it.
---@return [string, string][] chunks
function M.text()
  local first, last = vim.v.foldstart, vim.v.foldend
  local win = api.nvim_get_current_win()
  local bufnr = api.nvim_win_get_buf(win)
  local line = api.nvim_buf_get_lines(bufnr, first - 1, first, false)[1] or ""
  local info = vim.fn.getwininfo(win)[1]
  local width = info.width - info.textoff
  local from, to = { first - 1, 0 }, { first - 1, -1 }
  local mark = api.nvim_buf_get_extmarks(bufnr, ns_look, from, to, { details = true, limit = 1 })[1]
  local look = mark and mark[4] or {}
  local fact = look.virt_text and look.virt_text[1][1]
  local count = last - first
  -- Another fold than one of ours counts its first line too.
  local size = ("%d lines"):format(mark and count or count + 1)
  local bytes = mark and count <= MAX_OPEN_LINES and bytes_below(bufnr, first - 1, last - 1) or 0
  if bytes > MAX_OPEN_BYTES then
    size = ("%d KB"):format(math.ceil(bytes / 1024))
  end
  local icon = look.end_col and line:sub(1, look.end_col) or ""
  local text = line:sub(#icon + 1)
  -- In a narrow window the name is worth more than the facts.
  local wanted = math.min(block.cells(text), MIN_TEXT_CELLS)
  local right, room
  for _, facts in ipairs({ (fact and fact ~= "" and "  " .. fact or "") .. "  zo", "  zo", "" }) do
    right = size .. facts
    room = math.max(width - block.cells(right) - 2 - block.cells(icon), 0)
    if room >= wanted then
      break
    end
  end
  text = block.fit(text, room)
  local gap = (" "):rep(math.max(room - block.cells(text), 0) + 2)
  return { { icon, look.hl_group or "" }, { text .. gap, "" }, { right, "LatheFact" } }
end

---Closes folds over some lines of a window, unless the cursor is in them.
---@param win integer
---@param spans { [1]: integer, [2]: integer }[] first and last row
local function close(win, spans)
  if not spans[1] or vim.wo[win].foldmethod ~= "manual" then
    return
  end
  local cursor_row = api.nvim_win_get_cursor(win)[1] - 1
  local commands = {}
  for _, span in ipairs(spans) do
    commands[#commands + 1] = ("%d,%dfold"):format(span[1] + 1, span[2] + 1)
    if span[1] <= cursor_row and cursor_row <= span[2] then
      commands[#commands + 1] = ("%dfoldopen"):format(span[1] + 1)
    end
  end
  local text = table.concat(commands, "|")
  api.nvim_win_call(win, function()
    pcall(vim.cmd, "noautocmd silent! " .. text)
  end)
end

---Folds blocks that have just got their last text, in every window that shows them.
---@param render lathe.Render
---@param ranges integer[] marks of their places
function M.close(render, ranges)
  local wins = vim.fn.win_findbuf(render.bufnr)
  if not wins[1] then
    return
  end
  local spans = {}
  for _, range in ipairs(ranges) do
    local mark = api.nvim_buf_get_extmark_by_id(render.bufnr, ns_range, range, { details = true })
    if mark[1] and mark[3].end_row > mark[1] then
      spans[#spans + 1] = { mark[1], mark[3].end_row }
    end
  end
  for _, win in ipairs(wins) do
    close(win, spans)
  end
end

---Folds what is long among some blocks of a window, and is in no fold yet.
---@param render lathe.Render
---@param win integer
---@param marks vim.api.keyset.get_extmark_item[]
local function close_among(render, win, marks)
  local spans = {}
  api.nvim_win_call(win, function()
    for _, mark in ipairs(marks) do
      local row, end_row = mark[2], mark[4].end_row
      local state = end_row > row and positions.state_at(render, row)
      if state and vim.fn.foldlevel(row + 1) == 0 and M.is_long(render, state, row, end_row) then
        spans[#spans + 1] = { row, end_row }
      end
    end
  end)
  close(win, spans)
end

---Folds what is long in a window that has just been given the chat: first what it shows, then from the end upwards, in
---slices.
---@param render lathe.Render
---@param win integer
function M.fill(render, win)
  local bufnr = render.bufnr
  local function is_there()
    return render:is_alive() and api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == bufnr
  end
  if not is_there() or vim.wo[win].foldmethod ~= "manual" then
    return
  end
  api.nvim_win_call(win, function()
    -- Neovim brings back folds that the window had, where they were when it showed the chat before.
    pcall(vim.cmd, "silent! normal! zE")
  end)
  local function among(from, to)
    return api.nvim_buf_get_extmarks(bufnr, ns_range, from, to, { details = true, limit = MAX_FOLDS })
  end
  close_among(render, win, among({ math.max(vim.fn.line("w0", win) - 1, 0), 0 }, -1))
  local last ---@type integer? mark of the slice's first block
  local function go_on()
    if not is_there() then
      return
    end
    local from = last and api.nvim_buf_get_extmark_by_id(bufnr, ns_range, last, {}) or {}
    local marks = among(from[1] and { from[1], 0 } or -1, 0)
    close_among(render, win, marks)
    if #marks == MAX_FOLDS and marks[#marks][1] ~= last then
      last = marks[#marks][1]
      vim.defer_fn(go_on, 5)
    end
  end
  go_on()
end

---Makes a window one that shows a chat.
---@param render lathe.Render
---@param win integer
function M.dress(render, win)
  for name, value in pairs(options) do
    api.nvim_set_option_value(name, value, { win = win, scope = "local" })
  end
  -- A folded call looks like any other.
  local highlights = vim.wo[win].winhighlight
  if not highlights:find("Folded:", 1, true) then
    local group = api.nvim_win_get_config(win).relative ~= "" and "NormalFloat" or "LatheFold"
    highlights = (highlights ~= "" and highlights .. "," or "") .. "Folded:" .. group
    api.nvim_set_option_value("winhighlight", highlights, { win = win, scope = "local" })
  end
  M.fill(render, win)
end

return M
