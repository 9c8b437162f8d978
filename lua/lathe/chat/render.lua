-- The chat buffer's text: the only file that writes it. It is a history with an input under its last heading; the
-- history is never read back. What is written is joined: at most one write per chat per 33 ms.
local M = {}

local block = require("lathe.chat.block")
local compose = require("lathe.chat.compose")
local highlight = require("lathe.chat.highlight")
local spinner = require("lathe.chat.spinner")
local log = require("lathe.log")
local notify = require("lathe.notify")

local api = vim.api
local now = vim.uv.now

local WRITE_EVERY_MS = 33
-- A write takes no more than so many items, so that it does not hold the main loop; the rest follows sooner.
local MAX_ITEMS = 150
local MAX_BYTES = 64 * 1024
local REST_AFTER_MS = 8
local SPIN_EVERY_MS = 100

local ns_input = api.nvim_create_namespace("lathe.input")
local ns_heading = api.nvim_create_namespace("lathe.heading")
local ns_answer = api.nvim_create_namespace("lathe.answer") -- the line before the answer that came last
local ns_range = api.nvim_create_namespace("lathe.range") -- where blocks are that can still change
local ns_look = api.nvim_create_namespace("lathe.look") -- icons' colours and facts at the right
local ns_spin = api.nvim_create_namespace("lathe.spin")

local INPUT_MARK = 1

---@class (exact) lathe.RenderOpts
---@field user string the heading of the user's messages
---@field limits { max_lines: integer, max_bytes: integer } of what is shown of a call
---@field icons table<string, string>
---@field skip_key string? the key that ends a running call

---@class lathe.Render
---@field bufnr integer
---@field heading string the input's heading line
---@field limits { max_lines: integer, max_bytes: integer }
---@field icons table<string, string>
---@field skip_key string?
---@field queue table[] what is not yet in the buffer
---@field dirty lathe.Block[] blocks in the buffer whose text changed
---@field live table<lathe.Block, true> blocks in the buffer that can still change
---@field tail string? kind of what the history ends with; "output": a call with more than its line
---@field role string? role of the last heading
---@field carry string line ends at the end of streamed text, written only when more follows
---@field tail_bytes integer length of the history's last line
---@field last_heading integer? mark of it
---@field last_message integer? mark of the heading of the user's last message
---@field held string? what the input waits for: "tools", "answer"
---@field waiting_since integer? uv.now() since when the model is waited for
---@field due boolean a write is on its way
---@field written_ms integer uv.now() of the last write
---@field write fun() writes what is due, on the main loop
---@field write_timer uv.uv_timer_t
---@field spin_timer uv.uv_timer_t?
---@field closed boolean?
---@field has_rest boolean the last write left something
local Render = {}
Render.__index = Render

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
    skip_key = opts.skip_key,
    queue = {},
    dirty = {},
    live = {},
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
  add(self, { kind = "answer" })
end

---A paragraph, such as a notice.
---@param text string
function Render:add_lines(text)
  add(self, { kind = "lines", lines = block.split(text) })
end

---More of the model's text.
---@param text string
---@param kind "text"|"reasoning"
function Render:add_text(text, kind)
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

---A call; changes of it are told by `change_call`.
---@param call_block lathe.Block
function Render:add_call(call_block)
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

---The block under the cursor of the current window.
---@return lathe.Block?
function Render:block_at_cursor()
  if not self:is_alive() or api.nvim_get_current_buf() ~= self.bufnr then
    return nil
  end
  local cursor_row = api.nvim_win_get_cursor(0)[1] - 1
  for call_block in pairs(self.live) do
    local mark = api.nvim_buf_get_extmark_by_id(self.bufnr, ns_range, call_block.range, { details = true })
    if mark[1] and mark[1] <= cursor_row and cursor_row <= mark[3].end_row then
      return call_block
    end
  end
end

-- Writing ------------------------------------------------------------------------------------------------------------

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

---Runs `fn` outside the user's undo: setting the level closes their open undo step, and what is written then is none.
---A user or another plugin may have made the buffer unmodifiable, or read-only, where the first write would wait for
---a second with its warning.
---@param bufnr integer
---@param fn fun()
local function outside_undo(bufnr, fn)
  with_options(bufnr, { undolevels = -1, modifiable = true, readonly = false }, fn)
end

---Row of the input's heading, or of what the user has left in its place.
---@return integer
function Render:input_row()
  local last = math.max(api.nvim_buf_line_count(self.bufnr) - 1, 0)
  local mark = api.nvim_buf_get_extmark_by_id(self.bufnr, ns_input, INPUT_MARK, {})
  return math.min(mark[1] or last, last)
end

---@param self lathe.Render
---@param row integer
---@return string? line
local function line_at(self, row)
  return row >= 0 and api.nvim_buf_get_lines(self.bufnr, row, row + 1, false)[1] or nil
end

---Marks where the input begins.
---@param row integer
function Render:place_input(row)
  local held = self.held and { { (" (waits for the %s)"):format(self.held), "LatheFact" } } or nil
  api.nvim_buf_set_extmark(self.bufnr, ns_input, row, 0, { id = INPUT_MARK, virt_text = held })
end

---How a block looks besides its text.
---@param self lathe.Render
---@param call_block lathe.Block
---@param row integer
local function look(self, call_block, row)
  local opts = block.look(call_block, self.icons)
  if opts then
    call_block.look = api.nvim_buf_set_extmark(self.bufnr, ns_look, row, 0, opts)
  end
end

---@param self lathe.Render
---@param call_block lathe.Block
---@param row integer
---@param n_lines integer
---@param first string its first line
local function place(self, call_block, row, n_lines, first)
  if call_block.is_live then
    call_block.first = first
    local opts = { id = call_block.range, end_row = row + n_lines - 1, end_col = 0 }
    -- As the start does by itself: else the end of a call of one line stays behind when the line before it is written.
    opts.end_right_gravity = true
    call_block.range = api.nvim_buf_set_extmark(self.bufnr, ns_range, row, 0, opts)
    self.live[call_block] = true
  elseif call_block.range then
    api.nvim_buf_del_extmark(self.bufnr, ns_range, call_block.range)
    call_block.range = nil
    self.live[call_block] = nil
  end
  look(self, call_block, row)
end

---Writes a block again that is in the buffer already.
---@param self lathe.Render
---@param call_block lathe.Block
local function rewrite(self, call_block)
  call_block.dirty = false
  local mark = api.nvim_buf_get_extmark_by_id(self.bufnr, ns_range, call_block.range, { details = true })
  local row = mark[1]
  if not row or mark[3].end_row < row or line_at(self, row) ~= call_block.first then
    -- The user has removed it or moved its lines about: show it as a new one, its outcome must not be lost.
    call_block.range, call_block.look = nil, nil
    self.live[call_block] = nil
    self.queue[#self.queue + 1] = call_block
    return
  end
  local lines = {}
  local n_lines = block.append(lines, 0, call_block, self.icons, self.limits)
  -- Calls with output are paragraphs of their own: one that grows with every call would be parsed anew each time.
  if n_lines > 1 and line_at(self, mark[3].end_row + 1) ~= "" then
    lines[n_lines + 1] = ""
  end
  api.nvim_buf_set_lines(self.bufnr, row, mark[3].end_row + 1, false, lines)
  place(self, call_block, row, n_lines, lines[1])
end

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
  local lines, joined, marks, tail = compose.lines(self)
  self.queue = rest
  local row = self:input_row()
  if #lines == 0 then
    if marks[1] then -- an answer begins where the history ends
      place_answer(self, line_at(self, row - 1) == "" and row - 2 or row - 1)
    end
    return
  end
  if line_at(self, row) ~= self.heading then
    api.nvim_buf_set_lines(bufnr, row, row, false, { self.heading, "" })
    self:place_input(row)
  end
  if line_at(self, row - 1) == "" then
    row = row - 1 -- the history ends with an empty line: new text goes before it
  else
    lines[#lines + 1] = ""
  end
  if joined and row > 0 then
    row = row - 1
    local col = #line_at(self, row)
    api.nvim_buf_set_text(bufnr, row, col, row, col, lines)
  else
    api.nvim_buf_set_lines(bufnr, row, row, false, lines)
  end
  self.tail = tail
  for i = 1, #marks, 3 do
    local index, item = marks[i], marks[i + 1]
    if item.kind == "call" then
      place(self, item, row + index, marks[i + 2], lines[index + 1])
    elseif item.kind == "answer" then
      place_answer(self, row + index - 1)
    else
      self.last_heading = api.nvim_buf_set_extmark(bufnr, ns_heading, row + index, 0, {})
      self.last_message = item.role == "user" and self.last_heading or self.last_message
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
  local ok, err = pcall(outside_undo, self.bufnr, function()
    local dirty = self.dirty
    self.dirty = vim.list_slice(dirty, MAX_ITEMS + 1)
    for _, call_block in ipairs(vim.list_slice(dirty, 1, MAX_ITEMS)) do
      if call_block.range then
        rewrite(self, call_block)
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
  self:show_history()
  highlight.cover(self.bufnr)
  self:spin()
  self.has_rest = #self.queue > 0 or #self.dirty > 0
  if self.has_rest then
    touch(self)
  end
end

-- Spinner ------------------------------------------------------------------------------------------------------------

---Starts or ends the spinner as needed.
function Render:spin()
  local wanted = self:is_alive() and (self.waiting_since or next(self.live)) ~= nil
  if wanted and not self.spin_timer then
    self.spin_timer = assert(vim.uv.new_timer())
    self.spin_timer:start(
      SPIN_EVERY_MS,
      SPIN_EVERY_MS,
      vim.schedule_wrap(function()
        if self.spin_timer and self:is_alive() then
          spinner.draw(self)
        end
      end)
    )
  elseif not wanted and self.spin_timer then
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
    touch(self) -- the spinner ends with the next write
  end
  if waiting or #self.queue == 0 then
    self:spin()
  end
end

-- Input --------------------------------------------------------------------------------------------------------------

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
function Render:input()
  if not self:is_alive() then
    return nil
  end
  local lines = input_lines(self)
  return lines[1] and table.concat(lines, "\n") or nil
end

---Takes away what the user has typed; undo brings it back.
function Render:clear_input()
  local _, row, has_heading, end_row = input_lines(self)
  with_options(self.bufnr, { modifiable = true, readonly = false }, function()
    api.nvim_buf_set_lines(self.bufnr, has_heading and row + 1 or row, end_row, false, { "" })
  end)
end

---Puts text into the input, after what is there.
---@param text string
function Render:add_input(text)
  if not self:is_alive() then
    return
  end
  local lines, row, has_heading, end_row = input_lines(self)
  local new = block.split(text)
  with_options(self.bufnr, { modifiable = true, readonly = false }, function()
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

---Windows whose cursor was in the input show its end.
---@param row integer where the input began
function Render:show_end(row)
  local last = api.nvim_buf_line_count(self.bufnr)
  for _, win in ipairs(vim.fn.win_findbuf(self.bufnr)) do
    if api.nvim_win_get_cursor(win)[1] > row then
      local line = api.nvim_buf_get_lines(self.bufnr, last - 1, last, false)[1]
      api.nvim_win_set_cursor(win, { last, #line })
    end
  end
end

---Windows that show nothing but the input, because what was above it has become shorter, show what is above it again.
function Render:show_history()
  local row, last = self:input_row(), api.nvim_buf_line_count(self.bufnr)
  for _, win in ipairs(row > 0 and vim.fn.win_findbuf(self.bufnr) or {}) do
    local height = api.nvim_win_get_height(win)
    if vim.fn.line("w0", win) > row and last - row < height then
      api.nvim_win_call(win, function()
        vim.fn.winrestview({ topline = math.max(last - height, 0) + 1 })
      end)
    end
  end
end

---@class lathe.Snapshot
---@field lines string[]
---@field input_row integer
---@field headings integer[]
---@field live table<lathe.Block, { [1]: integer, [2]: integer }> first and last row

---What the buffer holds, before it is unloaded.
---@return lathe.Snapshot
function Render:snapshot()
  local live = {}
  for call_block in pairs(self.live) do
    local mark = api.nvim_buf_get_extmark_by_id(self.bufnr, ns_range, call_block.range, { details = true })
    if mark[1] then
      live[call_block] = { mark[1], mark[3].end_row }
    end
  end
  local headings = {}
  for _, mark in ipairs(api.nvim_buf_get_extmarks(self.bufnr, ns_heading, 0, -1, {})) do
    headings[#headings + 1] = mark[2]
  end
  local lines = api.nvim_buf_get_lines(self.bufnr, 0, -1, false)
  return { lines = lines, input_row = self:input_row(), headings = headings, live = live }
end

---Puts it back into a buffer that was read anew (`:edit`).
---@param snapshot lathe.Snapshot
function Render:restore(snapshot)
  local bufnr = self.bufnr
  outside_undo(bufnr, function()
    api.nvim_buf_set_lines(bufnr, 0, -1, false, snapshot.lines)
  end)
  -- Marks outlive the text, but not where they were.
  for _, ns in ipairs({ ns_heading, ns_answer, ns_range, ns_look, ns_spin }) do
    api.nvim_buf_clear_namespace(bufnr, ns, 0, -1)
  end
  local last_row = #snapshot.lines - 1
  self:place_input(math.min(snapshot.input_row, last_row))
  for _, row in ipairs(snapshot.headings) do
    if row <= last_row then
      self.last_heading = api.nvim_buf_set_extmark(bufnr, ns_heading, row, 0, {})
    end
  end
  self.live = {}
  for call_block, rows in pairs(snapshot.live) do
    call_block.range, call_block.look = nil, nil
    place(self, call_block, rows[1], rows[2] - rows[1] + 1, call_block.first)
  end
  touch(self)
end

---Writes all there is.
function Render:flush_all()
  repeat
    self:flush()
  until #self.queue == 0 and #self.dirty == 0
end

---Makes what the user has typed part of the history; an empty input follows.
---@return string? text nil when there was none
function Render:take_input()
  if not self:is_alive() then
    return nil
  end
  self:flush_all() -- what came before it stands above it
  local lines, row, has_heading, end_row = input_lines(self)
  if not lines[1] then
    return nil
  end
  local bufnr = self.bufnr
  outside_undo(bufnr, function()
    api.nvim_buf_set_lines(bufnr, end_row, -1, false, { "", self.heading, "", "" })
    if not has_heading then
      api.nvim_buf_set_lines(bufnr, row, row, false, { self.heading, "" })
      end_row = end_row + 2
    end
    self.last_message = api.nvim_buf_set_extmark(bufnr, ns_heading, row, 0, {})
    self.held = nil
    self:place_input(end_row + 1)
  end)
  self.role, self.tail = "user", "lines"
  self.written_ms = now()
  self:show_end(row)
  return table.concat(lines, "\n")
end

---Shows that the input waits for the running turn, or no longer does.
---@param held string? what it waits for
function Render:hold(held)
  if self:is_alive() and self.held ~= held then
    self.held = held
    self:place_input(self:input_row())
  end
end

---Removes the end of the history, from a row on.
---@param self lathe.Render
---@param row integer
local function cut_from(self, row)
  local to = self:input_row()
  outside_undo(self.bufnr, function()
    for _, ns in ipairs({ ns_heading, ns_look }) do
      api.nvim_buf_clear_namespace(self.bufnr, ns, row, to)
    end
    api.nvim_buf_set_lines(self.bufnr, row, to, false, row > 0 and { "" } or {})
  end)
  self.carry, self.tail, self.tail_bytes = "", row > 0 and "lines" or nil, 0
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
    if line_at(self, heading[2]) == self.heading then
      self.last_message = heading[1]
    end
  end
end

---Removes the history; what the user is typing stays.
function Render:clear()
  self.queue, self.dirty, self.live = {}, {}, {}
  self.tail, self.role, self.last_heading, self.carry = nil, nil, nil, ""
  self.last_message = nil
  if not self:is_alive() then
    return
  end
  local row = self:input_row()
  for _, ns in ipairs({ ns_heading, ns_answer, ns_range, ns_look, ns_spin }) do
    api.nvim_buf_clear_namespace(self.bufnr, ns, 0, -1)
  end
  outside_undo(self.bufnr, function()
    api.nvim_buf_set_lines(self.bufnr, 0, row, false, {})
  end)
  self:spin()
end

return M
