-- The queue of a chat's buffer turned into lines. The buffer itself is written by `render.lua`.
local M = {}

local block = require("lathe.chat.draw.block")

-- Neovim takes long to draw a line of many thousand bytes, and longer the longer it is: such a line goes on in the
-- next.
local MAX_LINE_BYTES = 8192

---Cuts lines that are too long, between characters.
---@param lines string[]
---@return string[] lines the same table when nothing was cut
function M.cut(lines)
  local result
  for i, line in ipairs(lines) do
    if #line > MAX_LINE_BYTES then
      result = result or vim.list_slice(lines, 1, i - 1)
      local from = 1
      while #line - from >= MAX_LINE_BYTES do
        local to = from + MAX_LINE_BYTES
        to = to + vim.str_utf_start(line, to)
        result[#result + 1] = line:sub(from, to - 1)
        from = to
      end
      result[#result + 1] = line:sub(from)
    elseif result then
      result[#result + 1] = line
    end
  end
  return result or lines
end

---The text of a piece of the model's answer, without line ends at its borders.
---@param self lathe.Render
---@param item table
---@param goes_on boolean it continues what is there
---@return string[]? lines
local function streamed(self, item, goes_on)
  local text = table.concat(item.pieces)
  text = goes_on and self.carry .. text or text:gsub("^[\r\n]+", "")
  local last = #text
  while last > 0 and (text:byte(last) == 10 or text:byte(last) == 13) do
    last = last - 1
  end
  if last == 0 then
    self.carry = goes_on and text or ""
    return nil
  end
  self.carry = text:sub(last + 1)
  return block.split(text:sub(1, last))
end

---Turns the queue into lines.
---@param self lathe.Render
---@return string[] lines
---@return boolean joined whether the first line continues the history's last
---@return table marks flat: index, item, count of lines, index, …
---@return string? tail
function M.lines(self)
  local lines, n = {}, 0
  local marks, n_marks = {}, 0
  local joined = false
  local tail = self.tail
  local function mark(index, item, count)
    marks[n_marks + 1], marks[n_marks + 2], marks[n_marks + 3] = index, item, count
    n_marks = n_marks + 3
  end
  for _, item in ipairs(self.queue) do
    local kind = item.kind
    if kind == "answer" then
      mark(n, item, 0)
    elseif item.head then
      if tail and tail ~= "block" then
        n = n + 1
        lines[n] = ""
      end
      local count = block.append(lines, n, item, self.icons, self.limits)
      mark(n, item, count)
      n = n + count
      tail = "block"
    else
      local goes_on = kind == tail and item.pieces ~= nil
      local new = item.lines or streamed(self, item, goes_on)
      if new then
        local from = 1
        local fits = goes_on and (n == 0 and self.tail_bytes or #lines[n]) + #new[1] <= MAX_LINE_BYTES
        new = M.cut(new)
        if fits and n == 0 then
          joined = true
        elseif fits then
          lines[n] = lines[n] .. new[1]
          from = 2
        elseif tail and not goes_on then
          n = n + 1
          lines[n] = ""
        end
        if kind == "heading" then
          mark(n, item, 1)
        end
        for i = from, #new do
          n = n + 1
          lines[n] = new[i]
        end
        tail = kind
      end
    end
  end
  if n > 0 then
    self.tail_bytes = #lines[n] + (joined and n == 1 and self.tail_bytes or 0)
  end
  return lines, joined, marks, tail
end

return M
