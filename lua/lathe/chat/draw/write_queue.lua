-- When and how what is queued gets into a chat's buffer: joined, and in writes that do not hold the editor. These
-- functions are methods of `lathe.Render`.
---@class lathe.Render
local Writing = {}

local api = vim.api
local now = vim.uv.now

local autoscroll = require("lathe.chat.draw.autoscroll")
local buffer_lines = require("lathe.chat.draw.buffer_lines")
local folds = require("lathe.chat.draw.folds")
local highlight = require("lathe.chat.draw.highlight")
local input_hints = require("lathe.chat.draw.input_hints")
local log = require("lathe.log")
local notify = require("lathe.notify")
local queued_lines = require("lathe.chat.draw.queued_lines")
local held_lines = require("lathe.chat.draw.held_lines")
local held_text = require("lathe.chat.draw.held_text")
local write_rate = require("lathe.chat.draw.write_rate")

local WRITE_EVERY_MS = 33
-- A write takes no more than so many items, so that it does not hold the main loop; the rest follows sooner.
local MAX_ITEMS = 150
local MAX_BYTES = 64 * 1024
local REST_AFTER_MS = 8
-- While nothing may be written it is tried again this often; most of what ends that is heard of at once.
local HELD_EVERY_MS = 100
-- Who waits for the end of a turn waits no longer for its text than this.
local MAX_UNWRITTEN_MS = 500

local ns_heading = api.nvim_create_namespace("lathe.heading")
local ns_answer = api.nvim_create_namespace("lathe.answer")

---Has the buffer written soon.
function Writing:touch()
  if self.due or self.closed then
    return
  end
  self.due = true
  local pause_ms = self.has_rest and REST_AFTER_MS or WRITE_EVERY_MS
  if write_rate.is_elsewhere(self.bufnr) and not self.has_rest then
    pause_ms = write_rate.SELDOM_MS
  end
  local wait_ms = self.written_ms + pause_ms - now()
  if wait_ms <= 0 then
    self.write()
  else
    self.write_timer:start(wait_ms, 0, self.write)
  end
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
    if self.queue[count + 1].kind == "edit" then
      break
    end
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

---Calls back when all that is queued now stands in the buffer: at once, or after the writes that it takes.
---@param callback fun()
function Writing:when_written(callback)
  self:settle()
  self.on_written, self.unwritten_since = callback, now()
  self:flush()
  if vim.v.exiting ~= vim.NIL then
    self:flush_all() -- nothing is written later
  end
end

---@param self lathe.Render
local function tell_written(self)
  local callback = self.on_written
  self.on_written = nil
  if callback then
    callback()
  end
end

---Does at once what waits for the buffer.
function Writing:settle()
  if self.on_written and self:is_alive() and held_lines.holder(self.bufnr) then
    tell_written(self)
  elseif self.on_written then
    self:flush_all()
  end
end

---Runs `fn`, which changes the buffer, after all that was queued before it: at once, unless nothing may be written now.
---@param fn fun()
function Writing:in_order(fn)
  if not held_lines.holder(self.bufnr) then
    self:flush_all()
    fn()
  else
    self.queue[#self.queue + 1] = { kind = "edit", run = fn }
    self:touch()
  end
end

---Calls back, later, when the buffer may be written, if that is not so now.
---@param callback fun()
---@return boolean is_later
function Writing:when_open(callback)
  if not self:is_alive() or not held_lines.holder(self.bufnr) then
    return false
  end
  self.on_open[#self.on_open + 1] = callback
  self:touch()
  return true
end

---Tries again what was held back.
function Writing:go_on()
  if self.is_held and not self.closed then
    self:flush()
  end
end

---Nothing can be written now.
---@param self lathe.Render
local function hold_back(self)
  self.is_held, self.due = true, true
  self.write_timer:start(HELD_EVERY_MS, 0, self.write)
  -- A menu would not move along, and while a command is typed nothing is drawn.
  local holder = held_lines.holder(self.bufnr)
  if holder == "insert" or holder == "selection" or (holder == "keys" and vim.fn.mode() == "i") then
    held_text.show(self)
  end
  if self.on_written and now() - self.unwritten_since > MAX_UNWRITTEN_MS then
    tell_written(self)
  end
end

---@param self lathe.Render
local function tell_open(self)
  local callbacks = self.on_open
  if callbacks[1] then
    self.on_open = {}
    for _, callback in ipairs(callbacks) do
      callback()
    end
  end
end

---Writes what is due, unless that would do harm now: then it is tried again.
function Writing:flush()
  if self:is_alive() and not held_lines.is_open(self.bufnr) then
    return hold_back(self)
  end
  self:flush_now()
  if #self.queue == 0 then
    tell_open(self)
  end
end

---Writes what is due, now. A write that fails is told and its text is lost, but not the turn: who writes goes on.
function Writing:flush_now()
  self.due, self.is_held = false, false
  self.write_timer:stop()
  if not self:is_alive() then
    self.queue, self.dirty = {}, {}
    return tell_written(self)
  end
  held_text.clear(self)
  self.written_ms = now()
  if #self.queue == 0 and #self.dirty == 0 then
    return tell_written(self)
  end
  while self.queue[1] and self.queue[1].kind == "edit" do
    table.remove(self.queue, 1).run()
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
  held_lines.note_write(self.bufnr)
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
    self:touch()
  else
    tell_written(self)
  end
end

---Writes all there is, now.
function Writing:flush_all()
  repeat
    self:flush_now()
  until #self.queue == 0 and #self.dirty == 0
end

return Writing
