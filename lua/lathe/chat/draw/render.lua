-- The chat buffer's text, and with the files of its methods the only code that writes it. It is a history with an input
-- under its last heading; the history is never read back. What is written is joined: at most one write per chat per 33
-- ms.
local M = {}

local block = require("lathe.chat.draw.block")
local positions = require("lathe.chat.draw.positions")
local reasoning = require("lathe.chat.draw.reasoning")
local write_rate = require("lathe.chat.draw.write_rate")

local api = vim.api

-- A piece of text in the queue is no longer.
local MAX_BYTES = 64 * 1024

local ns_input = api.nvim_create_namespace("lathe.input")
local ns_heading = api.nvim_create_namespace("lathe.heading")

---@class (exact) lathe.RenderOpts
---@field user string the heading of the user's messages
---@field limits { max_lines: integer, max_bytes: integer } of what is shown of a call
---@field icons table<string, string>
---@field key fun(action: string, mode: string?): string? the key of an action
---@field fold_output boolean whether long output is folded
---@field knows fun(name: string): boolean whether there is such a tool or group

---@class lathe.Render
---@field bufnr integer
---@field heading string the input's heading line
---@field limits { max_lines: integer, max_bytes: integer }
---@field icons table<string, string>
---@field key fun(action: string, mode: string?): string? the key of an action
---@field fold_output boolean
---@field knows fun(name: string): boolean
---@field queue table[] what is not yet in the buffer
---@field dirty lathe.Block[] blocks in the buffer whose text changed
---@field live table<lathe.Block, true> blocks in the buffer that can still change
---@field states table<integer, string> how finished blocks ended, by the mark of their looks
---@field sources table<integer, lathe.FunctionCall> the calls that they show
---@field to_fold integer[] marks of blocks that are to be folded
---@field reasoning lathe.Block? what the model thinks, while it does
---@field tail string? kind of what the history ends with
---@field role string? role of the last heading
---@field carry string line ends at the end of streamed text, written only when more follows
---@field tail_bytes integer length of the history's last line
---@field last_message integer? mark of the heading of the user's last message
---@field held string? what the input waits for: "tools", "answer"
---@field is_auto boolean?
---@field usage { input: integer, output: integer }? tokens of the last request
---@field waiting_since integer? uv.now() since when the model is waited for
---@field due boolean a write is on its way
---@field is_writing boolean? what changes now is our doing
---@field is_inviting boolean? the empty chat says how to begin
---@field is_noted boolean? it was said that edits of the history have no effect
---@field n_below integer? lines below what runs
---@field written_ms integer uv.now() of the last write
---@field write fun() writes what is due, on the main loop
---@field write_timer uv.uv_timer_t
---@field spin_timer uv.uv_timer_t?
---@field closed boolean?
---@field has_rest boolean the last write left something
---@field on_written fun()? waits until all is written
---@field unwritten_since integer? uv.now() since when it does
---@field on_open fun()[] wait until the buffer may be written
---@field is_held boolean? what is due cannot be written now
---@field shows_held boolean? it is shown as virtual text
local Render = {}
Render.__index = Render
for _, methods in ipairs({
  require("lathe.chat.draw.cut_history"),
  require("lathe.chat.draw.input_area"),
  require("lathe.chat.draw.redraw_block"),
  require("lathe.chat.draw.reload"),
  require("lathe.chat.draw.spinner"),
  require("lathe.chat.draw.write_queue"),
}) do
  for name, method in pairs(methods) do
    Render[name] = method
  end
end

---The text of a new chat: an empty input.
---@param bufnr integer empty
---@param opts lathe.RenderOpts
---@return lathe.Render
function M.new(bufnr, opts)
  local self = setmetatable({
    bufnr = bufnr,
    heading = "## " .. opts.user,
    limits = opts.limits,
    icons = opts.icons,
    key = opts.key,
    fold_output = opts.fold_output,
    knows = opts.knows,
    queue = {},
    dirty = {},
    live = {},
    states = {},
    sources = {},
    to_fold = {},
    carry = "",
    tail_bytes = 0,
    has_rest = false,
    written_ms = 0,
    due = false,
    on_open = {},
  }, Render)
  self.write_timer = assert(vim.uv.new_timer())
  self.write = vim.schedule_wrap(function()
    if self.due then
      self:flush()
    end
  end)
  api.nvim_buf_set_lines(bufnr, 0, -1, false, { self.heading, "", "" })
  self:place_input(0)
  return self
end

---Whether there is a buffer to write to.
---@return boolean
function Render:is_alive()
  return not self.closed and api.nvim_buf_is_loaded(self.bufnr)
end

---Ends the timers; nothing is written any more.
function Render:close()
  if self.closed then
    return
  end
  self.closed = true
  write_rate.watch(self, false)
  self.write_timer:close()
  if self.spin_timer then
    self.spin_timer:close()
    self.spin_timer = nil
  end
end

-- What the history is made of ----------------------------------------------------------------------------------------

---@param self lathe.Render
---@param item table
local function add(self, item)
  local queue = self.queue
  queue[#queue + 1] = item
  if not self.due then
    self:touch()
  end
end

---The following belongs to `role`; a heading is written when that changes.
---@param role "user"|"llm"
---@param title string
function Render:open_role(role, title)
  if self.role ~= role then
    reasoning.finish(self)
    self.role = role
    add(self, { kind = "heading", role = role, lines = { "## " .. title } })
  end
end

---A message of the user that did not come from the input.
---@param title string
---@param text string
function Render:add_user(title, text)
  self.role = nil
  self:open_role("user", title)
  add(self, { kind = "lines", lines = block.split(text) })
end

---What follows is an answer, which may have to go again.
function Render:begin_answer()
  reasoning.finish(self)
  add(self, { kind = "answer" })
end

---What the model thinks is over.
function Render:finish_reasoning()
  reasoning.finish(self)
end

---A paragraph.
---@param text string
function Render:add_lines(text)
  reasoning.finish(self)
  add(self, { kind = "lines", lines = block.split(text) })
end

---More of the model's text.
---@param text string
---@param kind "text"|"reasoning"
function Render:add_text(text, kind)
  if kind == "reasoning" then
    return reasoning.add(self, text)
  end
  reasoning.finish(self)
  while #text > MAX_BYTES do
    local to = MAX_BYTES + 1
    to = to + vim.str_utf_start(text, to)
    add(self, { kind = kind, pieces = { text:sub(1, to - 1) }, bytes = to - 1 })
    text = text:sub(to)
  end
  local last = self.queue[#self.queue]
  if last and last.kind == kind and last.bytes < MAX_BYTES then
    local pieces = last.pieces
    pieces[#pieces + 1] = text
    last.bytes = last.bytes + #text
    return
  end
  add(self, { kind = kind, pieces = { text }, bytes = #text })
end

---A block, such as a call; changes of it are told by `change_call`.
---@param call_block lathe.Block
function Render:add_call(call_block)
  if self.reasoning ~= call_block then
    reasoning.finish(self)
  end
  add(self, call_block)
end

---A call has changed: what the buffer shows of it is written again.
---@param call_block lathe.Block
function Render:change_call(call_block)
  if call_block.range and not call_block.dirty then
    call_block.dirty = true
    self.dirty[#self.dirty + 1] = call_block
    self:touch()
  end
end

---Whether the buffer shows a live block as it is.
---@param call_block lathe.Block
---@return boolean
function Render:is_written(call_block)
  return call_block.range ~= nil and not call_block.dirty
end

---Rows of the headings, the input's included, in order.
---@return integer[]
function Render:heading_rows()
  local rows, n_rows = {}, api.nvim_buf_line_count(self.bufnr)
  for _, ns in ipairs({ ns_heading, ns_input }) do
    for _, mark in ipairs(api.nvim_buf_get_extmarks(self.bufnr, ns, 0, -1, {})) do
      if mark[2] < n_rows then -- a mark is left behind the end when the last lines are deleted
        rows[#rows + 1] = mark[2]
      end
    end
  end
  return rows
end

---The live block under the cursor of the current window.
---@return lathe.Block?
function Render:block_at_cursor()
  if not self:is_alive() or api.nvim_get_current_buf() ~= self.bufnr then
    return nil
  end
  local place = positions.at(self, api.nvim_win_get_cursor(0)[1] - 1)
  return place and place.block
end

return M
