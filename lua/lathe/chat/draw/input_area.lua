-- The input: what stands under the chat's last heading. These functions are methods of `lathe.Render`.
---@class lathe.Render
local Input = {}

local block = require("lathe.chat.draw.block")
local buffer_lines = require("lathe.chat.draw.buffer_lines")
local input_hints = require("lathe.chat.draw.input_hints")

local api = vim.api
local now = vim.uv.now

local ns_input = api.nvim_create_namespace("lathe.input")
local ns_heading = api.nvim_create_namespace("lathe.heading")

local INPUT_MARK = 1

---Row of the input's heading, or of what the user has left in its place.
---@return integer
function Input:input_row()
  local last = math.max(api.nvim_buf_line_count(self.bufnr) - 1, 0)
  local mark = api.nvim_buf_get_extmark_by_id(self.bufnr, ns_input, INPUT_MARK, {})
  return math.min(mark[1] or last, last)
end

---Marks where the input begins.
---@param row integer
function Input:place_input(row)
  local held = self.held and { { (" (waits for the %s)"):format(self.held), "LatheFact" } } or nil
  api.nvim_buf_set_extmark(self.bufnr, ns_input, row, 0, { id = INPUT_MARK, virt_text = held })
  input_hints.show(self)
end

---The lines under the input's heading, without empty ones around them, and where they are.
---@param self lathe.Render
---@return string[] lines
---@return integer heading_row
---@return boolean has_heading
---@return integer end_row row after the last of them
local function input_lines(self)
  local row = self:input_row()
  local lines = api.nvim_buf_get_lines(self.bufnr, row, -1, false)
  -- The user may have removed the heading; then what stands in its place is text.
  local has_heading = lines[1] == self.heading
  local first, last = has_heading and 2 or 1, #lines
  while first <= last and not lines[first]:find("%S") do
    first = first + 1
  end
  while last >= first and not lines[last]:find("%S") do
    last = last - 1
  end
  return vim.list_slice(lines, first, last), row, has_heading, row + last
end

---What the user has typed under the last heading.
---@return string? text nil when there is none
function Input:input()
  if not self:is_alive() then
    return nil
  end
  local lines = input_lines(self)
  return lines[1] and table.concat(lines, "\n") or nil
end

---Takes away what the user has typed; undo brings it back.
function Input:clear_input()
  local _, row, has_heading, end_row = input_lines(self)
  buffer_lines.edit(self, function()
    api.nvim_buf_set_lines(self.bufnr, has_heading and row + 1 or row, end_row, false, { "" })
  end)
end

---@param self lathe.Render
---@param text string
local function add_input(self, text)
  local lines, row, has_heading, end_row = input_lines(self)
  local new = block.split(text)
  buffer_lines.edit(self, function()
    if not lines[1] then
      end_row = row
      new = vim.list_extend({ self.heading, "" }, new)
    else
      table.insert(new, 1, "")
      if not has_heading then
        api.nvim_buf_set_lines(self.bufnr, row, row, false, { self.heading, "" })
        self:place_input(row)
        end_row = end_row + 2
      end
    end
    api.nvim_buf_set_lines(self.bufnr, end_row, -1, false, new)
    self:place_input(row)
  end)
  self:show_end(row)
end

---Puts text into the input, after what is there.
---@param text string
function Input:add_input(text)
  if not self:is_alive() then
    return
  end
  self:in_order(function()
    add_input(self, text)
  end)
end

---Windows whose cursor was in the input show its end.
---@param row integer where the input began
function Input:show_end(row)
  local last = api.nvim_buf_line_count(self.bufnr)
  for _, win in ipairs(vim.fn.win_findbuf(self.bufnr)) do
    if api.nvim_win_get_cursor(win)[1] > row then
      local line = api.nvim_buf_get_lines(self.bufnr, last - 1, last, false)[1]
      api.nvim_win_set_cursor(win, { last, #line })
    end
  end
end

---Makes what the user has typed part of the history; an empty input follows.
---@return string? text nil when there was none
function Input:take_input()
  if not self:is_alive() then
    return nil
  end
  self:flush_all() -- what came before it stands above it
  local lines, row, has_heading, end_row = input_lines(self)
  if not lines[1] then
    return nil
  end
  local bufnr = self.bufnr
  buffer_lines.write(self, function()
    api.nvim_buf_set_lines(bufnr, end_row, -1, false, { "", self.heading, "", "" })
    if not has_heading then
      api.nvim_buf_set_lines(bufnr, row, row, false, { self.heading, "" })
      end_row = end_row + 2
    end
    self.last_message = api.nvim_buf_set_extmark(bufnr, ns_heading, row, 0, {})
    self.held = nil
    input_hints.take(self, row, end_row)
    self:place_input(end_row + 1)
  end)
  self.role, self.tail = "user", "lines"
  self.written_ms = now()
  self:show_end(row)
  return table.concat(lines, "\n")
end

---Shows that the input waits for the running turn, or no longer does.
---@param held string? what it waits for
function Input:hold(held)
  if self:is_alive() and self.held ~= held then
    self.held = held
    self:place_input(self:input_row())
  end
end

---Tokens of the last request.
---@param usage { input: integer, output: integer }
function Input:show_usage(usage)
  self.usage = usage
  if self:is_alive() then
    input_hints.show(self)
  end
end

---Shows that tools run without asking, or ask again.
---@param auto boolean
function Input:show_auto(auto)
  self.is_auto = auto
  if self:is_alive() then
    input_hints.show(self)
  end
end

return Input
