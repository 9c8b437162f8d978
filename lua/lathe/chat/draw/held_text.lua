-- What cannot be written into a chat's buffer now, as virtual text where it will stand: nothing moves for that.
local M = {}

local api = vim.api

local autoscroll = require("lathe.chat.draw.autoscroll")
local block = require("lathe.chat.draw.block")
local buffer_lines = require("lathe.chat.draw.buffer_lines")
local input_hints = require("lathe.chat.draw.input_hints")
local queued_lines = require("lathe.chat.draw.queued_lines")

-- More than that is not in view.
local MAX_BYTES, MAX_ITEMS = 16 * 1024, 100
-- Rows of a window that are left to what is there already.
local OTHER_ROWS = 4

local ns_held = api.nvim_create_namespace("lathe.held")
local BELOW, BESIDE = 1, 2

---The end of the queue, and how what stands before it ends.
---@param render lathe.Render
---@return table like a render
local function last_items(render)
  local queue, bytes, from = render.queue, 0, #render.queue + 1
  while from > 1 and bytes < MAX_BYTES and #queue - from < MAX_ITEMS do
    from = from - 1
    bytes = bytes + (queue[from].bytes or 0)
  end
  local is_all = from == 1
  local items = vim.tbl_filter(function(item)
    return item.kind ~= "edit"
  end, vim.list_slice(queue, from))
  local fields = { queue = items, carry = is_all and render.carry or "" }
  fields.tail = is_all and render.tail or "lines"
  return setmetatable(fields, { __index = render })
end

---A line as Neovim would break it.
---@param line string
---@param width integer
---@return string[] rows
local function wrap(line, width)
  local rows = {}
  while #line > width and block.cells(line) > width do
    local used, cut, blank = 0, nil, nil
    local starts = vim.str_utf_pos(line)
    for i, from in ipairs(starts) do
      local char = line:sub(from, (starts[i + 1] or #line + 1) - 1)
      used = used + block.cells(char)
      if used > width then
        cut = from - 1
        break
      end
      blank = char == " " and from or blank
    end
    cut = blank or cut
    if not cut or cut == 0 then
      break
    end
    rows[#rows + 1] = line:sub(1, cut)
    line = line:sub(cut + 1)
  end
  rows[#rows + 1] = line
  return rows
end

---@param render lathe.Render
---@return string[] lines
---@return boolean joined the first goes on in the line that is there
local function held_lines(render)
  local lines, joined = queued_lines.lines(last_items(render))
  for _, call_block in ipairs(render.dirty) do
    if call_block.question then
      lines[#lines + 1] = ""
      block.append(lines, #lines, call_block, render.icons, render.limits)
    end
  end
  return lines, joined
end

---Takes it away.
---@param render lathe.Render
function M.clear(render)
  if render.shows_held then
    render.shows_held = nil
    api.nvim_buf_clear_namespace(render.bufnr, ns_held, 0, -1)
  end
end

---Shows it as it is now.
---@param render lathe.Render
function M.show(render)
  local bufnr = render.bufnr
  local width = input_hints.width(bufnr)
  local input_row = render:input_row()
  local row = buffer_lines.line(bufnr, input_row - 1) == "" and input_row - 2 or input_row - 1
  if not width or row < 0 or (not render.queue[1] and not render.dirty[1]) then
    return
  end
  local lines, joined = held_lines(render)
  local most = api.nvim_win_get_height(0) - (api.nvim_buf_line_count(bufnr) - input_row) - OTHER_ROWS
  local chunks, rows = {}, {}
  for i = #lines, joined and 2 or 1, -1 do
    local wrapped = wrap(lines[i], width)
    for k = #wrapped, 1, -1 do
      if #rows < most then
        table.insert(rows, 1, { { wrapped[k] } })
      end
    end
  end
  chunks[1] = joined and #rows < most and { lines[1] } or nil
  local followers = autoscroll.followers(bufnr, input_row)
  render.shows_held = true
  api.nvim_buf_clear_namespace(bufnr, ns_held, 0, -1)
  if chunks[1] then
    local col = #buffer_lines.line(bufnr, row)
    api.nvim_buf_set_extmark(bufnr, ns_held, row, col, { id = BESIDE, virt_text = chunks, virt_text_pos = "inline" })
  end
  if rows[1] then
    api.nvim_buf_set_extmark(bufnr, ns_held, row, 0, { id = BELOW, virt_lines = rows })
  end
  autoscroll.follow(bufnr, followers)
end

return M
