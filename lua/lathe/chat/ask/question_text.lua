-- The text of a question: what is asked, with which arguments, and what each answer means. Who asks and who answers is
-- in `question.lua`.
local M = {}

local approvals = require("lathe.chat.ask.approvals")
local block = require("lathe.chat.draw.block")
local input_hints = require("lathe.chat.draw.input_hints")
local words = require("lathe.words")

local api = vim.api

-- So much of a text is looked at for what the question shows; more than that never fits.
local MAX_BYTES = 16 * 1024
-- Lines of larger texts are not counted.
local MAX_COUNTED_BYTES = 4 * 1024 * 1024
local MAX_LINE_BYTES = 1000

---@class lathe.QuestionText
---@field lines string[]
---@field spans { line: integer, first: integer, last: integer, group: string }[] bytes in colour, from 1

---An argument as text. A large one in one line, which is made much faster and is cut anyway.
---@param value any
---@return string
function M.readable(value)
  if type(value) == "string" then
    return value
  end
  local ok, json = pcall(vim.json.encode, value)
  return ok and #json > 4 * MAX_LINE_BYTES and json or vim.inspect(value)
end

---@param text string
---@return integer? count nil: too large to be counted
local function count_lines(text)
  if #text > MAX_COUNTED_BYTES then
    return nil
  end
  local count, at = 1, 0
  while true do
    at = text:find("\n", at + 1, true)
    if not at then
      return count
    end
    count = count + 1
  end
end

---@class lathe.QuestionSheet
---@field lines string[]
---@field spans table[]
---@field width integer
---@field more string what shows the rest
local Sheet = {}
Sheet.__index = Sheet

---@param line string
---@param group string? colour of its end
---@param from integer? where that begins
function Sheet:add(line, group, from)
  self.lines[#self.lines + 1] = line
  if group then
    self.spans[#self.spans + 1] = { line = #self.lines, first = from or 1, last = #line, group = group }
  end
end

---Adds as much of a text as fits, and says how much is missing.
---@param text string
---@param prefix string before the first line
---@param room integer rows
---@return integer used rows
function Sheet:add_text(text, prefix, room)
  local used, lines = 0, block.split(block.cut(text, MAX_BYTES))
  local total = count_lines(text)
  local has_more = false
  local shown = 0
  for i, line in ipairs(lines) do
    line = (i == 1 and prefix or prefix == "" and "" or "  ") .. line
    -- The last row is kept for saying that there is more.
    local left = room - used - (i < #lines and 1 or 0)
    if left <= 0 then
      break
    end
    local max_bytes = math.min(MAX_LINE_BYTES, math.max(left * self.width, self.width))
    local hidden = #line - max_bytes
    if hidden > 0 then
      line = ("%s (%d more bytes)"):format(block.cut(line, max_bytes), hidden)
      has_more = true
    end
    self:add(line)
    shown = i
    used = used + math.max(math.ceil(block.cells(line) / self.width), 1)
  end
  local missing = total and total - shown
  if not missing or missing > 0 then
    local what = missing and ("%d more line%s"):format(missing, missing == 1 and "" or "s")
      or ("%.1f MB in all"):format(#text / 1e6)
    self:add(("  … %s  %s"):format(what, self.more), "LatheFact")
    used = used + 1
  elseif has_more then
    self:add("  " .. self.more, "LatheFact")
    used = used + 1
  end
  return used
end

---@param args table
---@param room integer rows
function Sheet:add_arguments(args, room)
  local names, texts, n_long = block.argument_names(args), {}, 0
  local function is_long(i)
    return #tostring(names[i]) + 2 + #texts[i] > self.width or texts[i]:find("\n", 1, true) ~= nil
  end
  for i, name in ipairs(names) do
    texts[i] = M.readable(args[name])
    n_long = n_long + (is_long(i) and 1 or 0)
  end
  -- Those of one row are shown whole; the others share what is left.
  local n_short = #names - n_long
  for i, name in ipairs(names) do
    local left = #names - i + 1
    if room < (is_long(i) and 2 or 1) + (left > 1 and 1 or 0) then
      local what = (i > 1 and "%d more argument%s" or "%d argument%s"):format(left, left == 1 and "" or "s")
      return self:add(("… %s  %s"):format(what, self.more), "LatheFact")
    end
    local own = 1
    if is_long(i) then
      own, n_long = math.max(math.floor((room - n_short) / n_long), 2), n_long - 1
    else
      n_short = n_short - 1
    end
    room = room - self:add_text(texts[i], block.one_line(tostring(name)) .. ": ", own)
  end
end

---The answers, each with what it means.
---@param answers { [1]: string, [2]: string, [3]: string?, needed: boolean? }[] key, answer, meaning
function Sheet:add_answers(answers)
  local key_width, name_width = 0, 0
  for _, answer in ipairs(answers) do
    key_width = math.max(key_width, block.cells(answer[1]))
    name_width = math.max(name_width, #answer[2])
  end
  for _, answer in ipairs(answers) do
    local key, name, meaning = answer[1], answer[2], answer[3]
    local pad = (" "):rep(key_width - block.cells(key))
    local line = key .. pad .. "  " .. name
    local fits = meaning and key_width + name_width + 5 + block.cells(meaning) <= self.width
    self:add(line)
    self.spans[#self.spans + 1] = { line = #self.lines, first = 1, last = #key, group = "LatheKey" }
    if fits then
      line = line .. (" "):rep(name_width - #name + 3)
      self.lines[#self.lines] = line .. meaning
      local last = { line = #self.lines, first = #line + 1, last = #line + #meaning, group = "LatheFact" }
      self.spans[#self.spans + 1] = last
    elseif meaning and answer.needed then
      local indent = (" "):rep(key_width + 2)
      self:add(indent .. meaning, "LatheFact", #indent + 1)
    end
  end
end

---The size of the smallest window that shows a chat.
---@param chat lathe.Chat
---@return integer width
---@return integer height
local function size(chat)
  local height
  for _, win in ipairs(vim.fn.win_findbuf(chat.bufnr)) do
    height = math.min(height or math.huge, api.nvim_win_get_height(win))
  end
  local width = input_hints.width(chat.bufnr)
  -- Two columns: the text is indented.
  return math.max((width or vim.o.columns) - 2, 10), height or vim.o.lines
end

---@param chat lathe.Chat
---@param action string
---@return string key that does it
local function key(chat, action)
  return chat.render.key(action) or ":Lathe " .. action
end

---What *Always accept* remembers, in words.
---@param question lathe.Question
---@return string? nil: it is not offered
function M.remembers(question)
  local remember = question.remember
  if remember then
    local parts = {}
    for i, one in ipairs(remember) do
      parts[i] = approvals.value(one.value, one.tool)
    end
    local text = ("remembers %s in this %s"):format(table.concat(parts, ", "), remember.scope)
    return question.suggestion and text .. ", or a pattern" or text
  end
end

---What a question shows: never more than about half of the window, so that its answers are in view.
---@param chat lathe.Chat
---@param question lathe.Question
---@return lathe.QuestionText
function M.text(chat, question)
  local call, rest = question.call, question.rest
  local width, height = size(chat)
  local more = key(chat, "view_all") .. " view all"
  local sheet = setmetatable({ lines = {}, spans = {}, width = width, more = more }, Sheet)
  -- Its own line, an empty one and the answers.
  local room = math.max(math.floor(height / 2) - 6, 3)
  for _, why in ipairs(words.cause(question.cause)) do
    room = room - sheet:add_text(why, "", 2)
  end
  room = room - sheet:add_text(question.prompt, "", math.max(math.ceil(room / 2), 2))
  local wants = question.wants or {}
  for i, want in ipairs(wants) do
    if i > 1 and room < 4 then
      room = room - 1
      sheet:add(("… %d more like this  %s"):format(#wants - i + 1, more), "LatheFact")
      break
    end
    room = room - sheet:add_text(want.value, want.key .. ": ", 2)
  end
  sheet:add_arguments(call.args, math.max(room, 2))
  sheet:add("")
  local answers = {}
  local remembers = M.remembers(question)
  if remembers then
    if block.cells(remembers) > 2 * width then
      remembers = ("remembers exactly this in this %s"):format(question.remember.scope)
    end
    answers[1] = { key(chat, "always_accept"), "Always accept", remembers, needed = true }
  end
  answers[#answers + 1] = { key(chat, "accept"), "Accept" }
  answers[#answers + 1] = { key(chat, "reject"), "Reject", "with a reason for the model" }
  local ended = rest == 0 and "this call, nothing is sent" or "this and 1 more call"
  if rest > 1 then
    ended = ("this and %d more calls"):format(rest)
  end
  answers[#answers + 1] = { key(chat, "cancel"), "Cancel", ended, needed = rest > 0 }
  sheet:add_answers(answers)
  -- Names come from the model and may hold anything.
  for i, line in ipairs(sheet.lines) do
    sheet.lines[i] = line:gsub("[\r\n]", " ")
  end
  return { lines = sheet.lines, spans = sheet.spans }
end

return M
