-- What the model thinks before it answers: one line while it does, one line with the text folded below it afterwards.
local M = {}

local block = require("lathe.chat.draw.block")
local queued_lines = require("lathe.chat.draw.queued_lines")

local now = vim.uv.now

-- So much of the end is kept at hand, for the line that is shown while it goes on.
local MAX_TAIL_BYTES = 1000

---The end of what was thought last, in so many cells.
---@param thought lathe.Block
---@param width integer
---@return string?
local function last_line(thought, width)
  local line = thought.tail:gsub("%s+$", ""):match("[^\r\n]*$")
  return block.fit_end(line, width)
end

---More of it.
---@param render lathe.Render
---@param text string
function M.add(render, text)
  local thought = render.reasoning
  if not thought then
    if not text:find("%S") then
      return
    end
    thought = {
      kind = "reasoning",
      state = "running",
      head = "Reasoning",
      is_live = true,
      body = false,
      question = false,
      running_since = now(),
      pieces = {},
      tail = "",
    }
    thought.last_line = function(width)
      return last_line(thought, width)
    end
    render.reasoning = thought
    render:add_call(thought)
  end
  thought.pieces[#thought.pieces + 1] = text
  local tail = thought.tail .. text
  local from = #tail - MAX_TAIL_BYTES
  thought.tail = from > 0 and tail:sub(from + vim.str_utf_start(tail, from)) or tail
end

---It is over, if there was any.
---@param render lathe.Render
function M.finish(render)
  local thought = render.reasoning
  if not thought then
    return
  end
  render.reasoning = nil
  local text = table.concat(thought.pieces):gsub("^%s*\n", ""):gsub("%s+$", "")
  thought.lines = queued_lines.cut(block.split(text))
  thought.pieces, thought.tail = nil, nil
  thought.is_live, thought.state, thought.last_line = false, "reasoning", nil
  local ms = now() - thought.running_since
  thought.fact = ms >= 60000 and block.clock(ms) or ms >= 1000 and ("%d s"):format(ms / 1000) or nil
  render:change_call(thought)
end

return M
