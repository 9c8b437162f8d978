-- The chat buffer's text, and with the files of its methods the only code that writes it. It is a history with an input
-- under its last heading; the history is never read back. What is written is joined: at most one write per chat per 33 ms.
local M = {}

local block = require("lathe.chat.draw.block")
local buffer_lines = require("lathe.chat.draw.buffer_lines")
local queued_lines = require("lathe.chat.draw.queued_lines")
local folds = require("lathe.chat.draw.folds")
local autoscroll = require("lathe.chat.draw.autoscroll")
local highlight = require("lathe.chat.draw.highlight")
local input_hints = require("lathe.chat.draw.input_hints")
local log = require("lathe.log")
local notify = require("lathe.notify")
local positions = require("lathe.chat.draw.positions")
local reasoning = require("lathe.chat.draw.reasoning")
local spinner = require("lathe.chat.draw.spinner")
local write_rate = require("lathe.chat.draw.write_rate")

local api = vim.api
local now = vim.uv.now

local WRITE_EVERY_MS = 33
-- A write takes no more than so many items, so that it does not hold the main loop; the rest follows sooner.
local MAX_ITEMS = 150
local MAX_BYTES = 64 * 1024
local REST_AFTER_MS = 8
local SPIN_EVERY_MS = 100
-- While the user types in another buffer.
local WRITE_SELDOM_MS = 400

local ns_input = api.nvim_create_namespace("lathe.input")
local ns_heading = api.nvim_create_namespace("lathe.heading")
local ns_answer = api.nvim_create_namespace("lathe.answer") -- the line before the answer that came last
local ns_range = api.nvim_create_namespace("lathe.range") -- where blocks are that can still change
local ns_look = api.nvim_create_namespace("lathe.look") -- icons' colours and facts at the right
local ns_question = api.nvim_create_namespace("lathe.question")
local ns_spin = api.nvim_create_namespace("lathe.spin")

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
local Render = {}
Render.__index = Render
for _, methods in ipairs({
  require("lathe.chat.draw.redraw_block"),
  require("lathe.chat.draw.input_area"),
  require("lathe.chat.draw.reload"),
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

---Has the buffer written soon.
local function touch(self)
  if self.due or self.closed then
    return
  end
  self.due = true
  local pause_ms = self.has_rest and REST_AFTER_MS or WRITE_EVERY_MS
  if write_rate.is_elsewhere(self.bufnr) and not self.has_rest then
    pause_ms = WRITE_SELDOM_MS
  end
  local wait_ms = self.written_ms + pause_ms - now()
  if wait_ms <= 0 then
    self.write()
  else
    self.write_timer:start(wait_ms, 0, self.write)
  end
end

-- What the history is made of ----------------------------------------------------------------------------------------

---@param self lathe.Render
---@param item table
local function add(self, item)
  local queue = self.queue
  queue[#queue + 1] = item
  if not self.due then
    touch(self)
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
    touch(self)
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

-- Writing ------------------------------------------------------------------------------------------------------------

---Marks the line after which an answer stands.
---@param self lathe.Render
---@param row integer -1: it is the first thing in the buffer
local function place_answer(self, row)
  api.nvim_buf_set_extmark(self.bufnr, ns_answer, math.max(row, 0), 0, { id = 1 })
end

---@param self lathe.Render
local function write_queue(self)
  local bufnr = self.bufnr
  local count, bytes = 0, 0
  while count < math.min(#self.queue, MAX_ITEMS) and bytes < MAX_BYTES do
    count = count + 1
    bytes = bytes + (self.queue[count].bytes or 0)
  end
  local rest = vim.list_slice(self.queue, count + 1)
  self.queue = vim.list_slice(self.queue, 1, count)
  local lines, joined, marks, tail = queued_lines.lines(self)
  self.queue = rest
  local row = self:input_row()
  if #lines == 0 then
    if marks[1] then -- an answer begins where the history ends
      place_answer(self, buffer_lines.line(bufnr, row - 1) == "" and row - 2 or row - 1)
    end
    return
  end
  if buffer_lines.line(bufnr, row) ~= self.heading then
    api.nvim_buf_set_lines(bufnr, row, row, false, { self.heading, "" })
    self:place_input(row)
  end
  if buffer_lines.line(bufnr, row - 1) == "" then
    row = row - 1 -- the history ends with an empty line: new text goes before it
  else
    lines[#lines + 1] = ""
  end
  if joined and row > 0 then
    row = row - 1
    local col = #buffer_lines.line(bufnr, row)
    api.nvim_buf_set_text(bufnr, row, col, row, col, lines)
  else
    api.nvim_buf_set_lines(bufnr, row, row, false, lines)
  end
  self.tail = tail
  for i = 1, #marks, 3 do
    local index, item = marks[i], marks[i + 1]
    if item.head then
      self:place(item, row + index, marks[i + 2], lines[index + 1])
    elseif item.kind == "answer" then
      place_answer(self, row + index - 1)
    else
      local heading = api.nvim_buf_set_extmark(bufnr, ns_heading, row + index, 0, {})
      self.last_message = item.role == "user" and heading or self.last_message
    end
  end
end

---Writes what is due, now. A write that fails is told and its text is lost, but not the turn: who writes goes on.
function Render:flush()
  self.due = false
  self.write_timer:stop()
  if not self:is_alive() then
    self.queue, self.dirty = {}, {}
    return
  end
  self.written_ms = now()
  if #self.queue == 0 and #self.dirty == 0 then
    return
  end
  local followers = autoscroll.followers(self.bufnr, self:input_row())
  local ok, err = pcall(buffer_lines.write, self, function()
    local dirty = self.dirty
    self.dirty = vim.list_slice(dirty, MAX_ITEMS + 1)
    for _, call_block in ipairs(vim.list_slice(dirty, 1, MAX_ITEMS)) do
      if call_block.range then
        self:rewrite(call_block)
      end
    end
    if #self.queue > 0 then
      write_queue(self)
    end
  end)
  if not ok then
    log.error("writing a chat failed: " .. tostring(err))
    notify.error("internal error, see `:Lathe log`")
  end
  local to_fold = self.to_fold
  if to_fold[1] then
    self.to_fold = {}
    folds.close(self, to_fold)
  end
  if self.is_inviting then
    input_hints.show(self)
  end
  self:spin()
  autoscroll.follow(self.bufnr, followers)
  highlight.cover(self)
  self.has_rest = #self.queue > 0 or #self.dirty > 0
  if self.has_rest then
    touch(self)
  end
end

-- Spinner ------------------------------------------------------------------------------------------------------------

---Starts or ends the spinner as needed.
function Render:spin()
  local wanted = self:is_alive() and (self.waiting_since or next(self.live)) ~= nil
  write_rate.watch(self, wanted)
  if wanted and not self.spin_timer then
    self.spin_timer = assert(vim.uv.new_timer())
    self.spin_timer:start(
      SPIN_EVERY_MS,
      SPIN_EVERY_MS,
      vim.schedule_wrap(function()
        local is_due = now() - (self.spun_ms or 0) >= WRITE_SELDOM_MS or not write_rate.is_elsewhere(self.bufnr)
        if is_due and self.spin_timer and self:is_alive() then
          self.spun_ms = now()
          spinner.draw(self)
        end
      end)
    )
  elseif wanted then
    spinner.draw(self) -- what it was drawn beside may be elsewhere now
  elseif self.spin_timer then
    self.spin_timer:close()
    self.spin_timer = nil
    if self:is_alive() then
      api.nvim_buf_clear_namespace(self.bufnr, ns_spin, 0, -1)
    end
  end
end

---The model is being waited for, or no longer.
---@param waiting boolean
function Render:wait(waiting)
  self.waiting_since = waiting and now() or nil
  if not waiting then
    reasoning.finish(self)
    touch(self) -- the spinner ends with the next write
  end
  if waiting or #self.queue == 0 then
    self:spin()
  end
end

---Tokens of the last request.
---@param usage { input: integer, output: integer }
function Render:show_usage(usage)
  self.usage = usage
  if self:is_alive() then
    input_hints.show(self)
  end
end

---Shows that tools run without asking, or ask again.
---@param auto boolean
function Render:show_auto(auto)
  self.is_auto = auto
  if self:is_alive() then
    input_hints.show(self)
  end
end

---Writes all there is.
function Render:flush_all()
  repeat
    self:flush()
  until #self.queue == 0 and #self.dirty == 0
end

---Removes the end of the history, from a row on.
---@param self lathe.Render
---@param row integer
local function cut_from(self, row)
  local to = self:input_row()
  for _, mark in ipairs(api.nvim_buf_get_extmarks(self.bufnr, ns_look, { row, 0 }, { to, 0 }, {})) do
    self.states[mark[1]], self.sources[mark[1]] = nil, nil
  end
  local followers = autoscroll.followers(self.bufnr, to)
  buffer_lines.write(self, function()
    for _, ns in ipairs({ ns_heading, ns_look, ns_range, ns_question }) do
      api.nvim_buf_clear_namespace(self.bufnr, ns, row, to)
    end
    api.nvim_buf_set_lines(self.bufnr, row, to, false, row > 0 and { "" } or {})
  end)
  self.carry, self.tail, self.tail_bytes = "", row > 0 and "lines" or nil, 0
  input_hints.show(self)
  autoscroll.follow(self.bufnr, followers)
end

---Removes the answer that came last.
function Render:cut_answer()
  if not self:is_alive() then
    return
  end
  self:flush_all()
  local row = api.nvim_buf_get_extmark_by_id(self.bufnr, ns_answer, 1, {})[1]
  if row and row + 1 < self:input_row() then
    cut_from(self, row + 1)
  end
end

---Removes the user's last message and all that came of it.
function Render:cut_to_last_message()
  if not self:is_alive() then
    return
  end
  self:flush_all()
  local mark = self.last_message and api.nvim_buf_get_extmark_by_id(self.bufnr, ns_heading, self.last_message, {})
  if mark and mark[1] and mark[1] < self:input_row() then
    cut_from(self, mark[1])
  end
  self.role, self.last_message = nil, nil
  for _, heading in ipairs(api.nvim_buf_get_extmarks(self.bufnr, ns_heading, 0, -1, {})) do
    if buffer_lines.line(self.bufnr, heading[2]) == self.heading then
      self.last_message = heading[1]
    end
  end
end

---Removes the history; what the user is typing stays.
function Render:clear()
  self.queue, self.dirty, self.live, self.to_fold = {}, {}, {}, {}
  self.states, self.sources, self.reasoning = {}, {}, nil
  self.tail, self.role, self.carry, self.last_message = nil, nil, "", nil
  if not self:is_alive() then
    return
  end
  local row = self:input_row()
  for _, ns in ipairs({ ns_heading, ns_answer, ns_range, ns_look, ns_question, ns_spin }) do
    api.nvim_buf_clear_namespace(self.bufnr, ns, 0, -1)
  end
  buffer_lines.write(self, function()
    api.nvim_buf_set_lines(self.bufnr, 0, row, false, {})
  end)
  input_hints.show(self)
  self:spin()
end

return M
