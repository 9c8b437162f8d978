-- Yanking a code block that the model, or the user, wrote.
local M = {}

local notify = require("lathe.notify")
local positions = require("lathe.chat.draw.positions")

local api = vim.api

local ns_yank = api.nvim_create_namespace("lathe.yank")

local SHOWN_MS = 200

---@class lathe.Fence
---@field first integer row of the first line inside
---@field last integer row of the last line inside
---@field indent integer cells before its fences

---The code blocks of one message.
---@param bufnr integer
---@param from integer row
---@param to integer row after the last
---@return lathe.Fence[]
local function fences(bufnr, from, to)
  local found, open, mark = {}, nil, nil ---@type lathe.Fence[], lathe.Fence?, string?
  local hidden, n = positions.among(bufnr, from, to), 1
  for i, line in ipairs(api.nvim_buf_get_lines(bufnr, from, to, false)) do
    local row = from + i - 1
    while hidden[n] and hidden[n][2] <= row do
      n = n + 1
    end
    if hidden[n] and hidden[n][1] <= row then
      if open then -- what the model writes after a call does not go on with what it wrote before
        open.last = row - 1
        found[#found + 1], open = open, nil
      end
    else
      local indent, fence, info = line:match("^(%s*)(```+)([^`]*)$")
      if not fence then
        indent, fence, info = line:match("^(%s*)(~~~+)(.*)$")
      end
      if fence and not open then
        open, mark = { first = row + 1, indent = #indent }, fence
      elseif open and fence and vim.startswith(fence, mark) and not info:find("%S") then
        open.last = row - 1
        found[#found + 1], open = open, nil
      end
    end
  end
  if open then -- it is still being written
    open.last = to - 1
    found[#found + 1] = open
  end
  return found
end

---The code block at a row, else the last one before it.
---@param render lathe.Render
---@param cursor_row integer
---@return lathe.Fence?
local function find(render, cursor_row)
  local rows = render:heading_rows()
  local to = api.nvim_buf_line_count(render.bufnr)
  for i = #rows, 0, -1 do
    local from = rows[i] or 0
    if from <= cursor_row then
      local last
      for _, fence in ipairs(fences(render.bufnr, from, to)) do
        if fence.first - 1 <= cursor_row then
          last = fence
        end
      end
      if last then
        return last
      end
    end
    to = from
  end
end

---Yanks it into the register that was named before the key, and shows it for a moment.
---@param chat lathe.Chat
function M.yank(chat)
  local render = chat.render
  if not render:is_alive() or api.nvim_get_current_buf() ~= render.bufnr then
    return
  end
  local fence = find(render, api.nvim_win_get_cursor(0)[1] - 1)
  if not fence then
    return notify.info("there is no code block here or above")
  end
  local lines = api.nvim_buf_get_lines(render.bufnr, fence.first, fence.last + 1, false)
  if not lines[1] then
    return notify.info("the code block is empty")
  end
  for i, line in ipairs(lines) do
    lines[i] = line:sub(math.min(fence.indent, #line:match("^%s*")) + 1)
  end
  local ok, err = pcall(vim.fn.setreg, vim.v.register, lines, "V")
  if not ok then
    return notify.warn("the code block was not yanked: " .. tostring(err))
  end
  vim.hl.range(render.bufnr, ns_yank, "IncSearch", { fence.first, 0 }, { fence.last, -1 }, {
    regtype = "V",
    timeout = SHOWN_MS,
  })
end

return M
