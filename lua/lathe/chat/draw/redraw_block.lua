-- Calls, reasoning and notices in the chat's buffer: their marks, and what is written of them again. These functions
-- are methods of `lathe.Render`.
---@class lathe.Render
local Blocks = {}

local block = require("lathe.chat.draw.block")
local input_hints = require("lathe.chat.draw.input_hints")
local buffer_lines = require("lathe.chat.draw.buffer_lines")
local folds = require("lathe.chat.draw.folds")

local api = vim.api

local ns_range = api.nvim_create_namespace("lathe.range") -- of blocks that can still change or have several lines
local ns_look = api.nvim_create_namespace("lathe.look") -- icons' colours and facts at the right
local ns_question = api.nvim_create_namespace("lathe.question") -- colours of text below a block's line

---How a block looks besides its text.
---@param self lathe.Render
---@param call_block lathe.Block
---@param row integer
local function look(self, call_block, row)
  local opts = block.look(call_block, self.icons, call_block.fact and input_hints.width(self.bufnr))
  if opts then
    call_block.look = api.nvim_buf_set_extmark(self.bufnr, ns_look, row, 0, opts)
  end
end

---Text that is not what the model answers.
---@param self lathe.Render
---@param row integer
---@param end_row integer row after the last
local function dim(self, row, end_row)
  local opts = { end_row = end_row, end_col = 0, hl_group = "LatheReasoning", strict = false }
  api.nvim_buf_set_extmark(self.bufnr, ns_question, row, 0, opts)
end

---Colours the question below a call, or takes the colours away.
---@param self lathe.Render
---@param call_block lathe.Block
---@param row integer
---@param n_lines integer
local function mark_question(self, call_block, row, n_lines)
  local question = call_block.question
  if not question then
    return
  end
  api.nvim_buf_clear_namespace(self.bufnr, ns_question, row, row + n_lines)
  local first = row + n_lines - #question.lines
  for _, span in ipairs(question.spans) do
    local at = first + span.line - 1
    -- Two columns: the text is indented.
    local opts = { end_col = span.last + 2, hl_group = span.group, hl_eol = false }
    api.nvim_buf_set_extmark(self.bufnr, ns_question, at, span.first + 1, opts)
  end
end

---Marks where a block is, and how it looks.
---@param call_block lathe.Block
---@param row integer
---@param n_lines integer
---@param first string its first line
function Blocks:place(call_block, row, n_lines, first)
  local bufnr = self.bufnr
  if call_block.is_live or n_lines > 1 then
    call_block.first = first
    call_block.range = api.nvim_buf_set_extmark(bufnr, ns_range, row, 0, {
      id = call_block.range,
      end_row = row + n_lines - 1,
      end_col = 0,
      -- As the start does by itself: else the end of a call of one line stays behind when the line before it is
      -- written.
      end_right_gravity = true,
    })
  elseif call_block.range then
    api.nvim_buf_del_extmark(bufnr, ns_range, call_block.range)
    call_block.range = nil
  end
  look(self, call_block, row)
  if call_block.is_live then
    self.live[call_block] = true
    return mark_question(self, call_block, row, n_lines)
  end
  self.live[call_block] = nil
  self.states[call_block.look], self.sources[call_block.look] = call_block.state, call_block.source
  if call_block.state == "reasoning" then
    dim(self, row + 1, row + n_lines)
  end
  if n_lines > 1 and folds.is_long(self, call_block.state, row, row + n_lines - 1) then
    self.to_fold[#self.to_fold + 1] = call_block.range
  end
end

---Writes a block again that is in the buffer already.
---@param call_block lathe.Block
function Blocks:rewrite(call_block)
  call_block.dirty = false
  local mark = api.nvim_buf_get_extmark_by_id(self.bufnr, ns_range, call_block.range, { details = true })
  local row = mark[1]
  if not row or mark[3].end_row < row or buffer_lines.line(self.bufnr, row) ~= call_block.first then
    -- The user has removed it or moved its lines about: show it as a new one, its outcome must not be lost.
    call_block.range, call_block.look = nil, nil
    self.live[call_block] = nil
    self.queue[#self.queue + 1] = call_block
    return
  end
  if call_block.question == false then
    api.nvim_buf_clear_namespace(self.bufnr, ns_question, row, mark[3].end_row + 1)
  end
  local lines = {}
  local n_lines = block.append(lines, 0, call_block, self.icons, self.limits)
  api.nvim_buf_set_lines(self.bufnr, row, mark[3].end_row + 1, false, lines)
  self:place(call_block, row, n_lines, lines[1])
end

return Blocks
