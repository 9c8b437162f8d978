-- Removing from the end of the history in a chat's buffer, or all of it. These functions are methods of `lathe.Render`.
---@class lathe.Render
local Cutting = {}

local api = vim.api

local autoscroll = require("lathe.chat.draw.autoscroll")
local buffer_lines = require("lathe.chat.draw.buffer_lines")
local input_hints = require("lathe.chat.draw.input_hints")

local ns_heading = api.nvim_create_namespace("lathe.heading")
local ns_answer = api.nvim_create_namespace("lathe.answer") -- the line before the answer that came last
local ns_range = api.nvim_create_namespace("lathe.range") -- where blocks are that can still change
local ns_look = api.nvim_create_namespace("lathe.look") -- icons' colours and facts at the right
local ns_question = api.nvim_create_namespace("lathe.question")
local ns_spin = api.nvim_create_namespace("lathe.spin")

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
function Cutting:cut_answer()
  if not self:is_alive() then
    return
  end
  self:in_order(function()
    local row = api.nvim_buf_get_extmark_by_id(self.bufnr, ns_answer, 1, {})[1]
    if row and row + 1 < self:input_row() then
      cut_from(self, row + 1)
    end
  end)
end

---@param self lathe.Render
local function cut_to_last_message(self)
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

---Removes the user's last message and all that came of it.
function Cutting:cut_to_last_message()
  if self:is_alive() then
    self:in_order(function()
      cut_to_last_message(self)
    end)
  end
end

---@param self lathe.Render
local function clear(self)
  local row = self:input_row()
  for _, ns in ipairs({ ns_heading, ns_answer, ns_range, ns_look, ns_question, ns_spin }) do
    api.nvim_buf_clear_namespace(self.bufnr, ns, 0, -1)
  end
  buffer_lines.write(self, function()
    api.nvim_buf_set_lines(self.bufnr, 0, row, false, {})
  end)
  self.tail, self.carry, self.last_message = nil, "", nil
  input_hints.show(self)
  self:spin()
end

---Removes the history; what the user is typing stays.
function Cutting:clear()
  self.queue, self.dirty, self.live, self.to_fold = {}, {}, {}, {}
  self.states, self.sources, self.reasoning = {}, {}, nil
  self.role = nil
  if self:is_alive() then
    self:in_order(function()
      clear(self)
    end)
  else
    self.tail, self.carry, self.last_message = nil, "", nil
  end
end

return Cutting
