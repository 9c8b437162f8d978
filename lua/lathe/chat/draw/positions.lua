-- Where blocks are in a chat's buffer. The marks are set by `render.lua`.
local M = {}

local api = vim.api

local ns_range = api.nvim_create_namespace("lathe.range")
local ns_look = api.nvim_create_namespace("lathe.look")

---@class lathe.Place
---@field row integer the block's own line
---@field end_row integer its last line
---@field block lathe.Block? while it can change
---@field source lathe.FunctionCall? the call that it shows
---@field state string
---@field fact string?

---The mark that shows how the block of a row looks.
---@param bufnr integer
---@param row integer
---@return vim.api.keyset.get_extmark_item?
local function look_at(bufnr, row)
  return api.nvim_buf_get_extmarks(bufnr, ns_look, { row, 0 }, { row, -1 }, { details = true, limit = 1 })[1]
end

---The state of the block that begins at a row; nil: none does, or it can still change.
---@param render lathe.Render
---@param row integer
---@return string?
function M.state_at(render, row)
  local mark = look_at(render.bufnr, row)
  return mark and render.states[mark[1]]
end

---The block that a row belongs to.
---@param render lathe.Render
---@param row integer
---@return lathe.Place?
function M.at(render, row)
  local bufnr = render.bufnr
  local place = { row = row, end_row = row }
  local opts = { overlap = true, details = true }
  for _, mark in ipairs(api.nvim_buf_get_extmarks(bufnr, ns_range, { row, 0 }, { row, -1 }, opts)) do
    if mark[2] <= row and mark[4].end_row >= row then
      place.row, place.end_row, place.range = mark[2], mark[4].end_row, mark[1]
    end
  end
  for block in pairs(render.live) do
    if block.range == place.range and place.range then
      place.block, place.source, place.state = block, block.source, block.state
      return place
    end
  end
  local look = look_at(bufnr, place.row)
  if not look or not render.states[look[1]] then
    return nil
  end
  place.source, place.state = render.sources[look[1]], render.states[look[1]]
  place.fact = look[4].virt_text and look[4].virt_text[1][1]
  return place
end

---The rows of all blocks that reach into some rows, in order.
---@param bufnr integer
---@param first integer
---@param last integer row after the last
---@return { [1]: integer, [2]: integer }[] spans first row, row after the last
function M.among(bufnr, first, last)
  local spans = {}
  local opts = { overlap = true, details = true }
  for _, ns in ipairs({ ns_range, ns_look }) do
    for _, mark in ipairs(api.nvim_buf_get_extmarks(bufnr, ns, { first, 0 }, { last, 0 }, opts)) do
      if mark[2] < last then
        spans[#spans + 1] = { mark[2], (mark[4].end_row or mark[2]) + 1 }
      end
    end
  end
  table.sort(spans, function(a, b)
    return a[1] < b[1]
  end)
  return spans
end

return M
