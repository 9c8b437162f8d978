-- Markdown highlighting of a chat. Neovim's markdown parser reads all it is given again after every change, so it is
-- given only what is on the screen and some lines around it: a long chat costs what a short one does.
local M = {}

local api = vim.api

-- Lines parsed above and below what is shown.
local MARGIN = 150
-- More lines than this are never left to the parser, unless they are all on the screen.
local MAX_LINES = 1000

---The rows that windows show, 0-based, end-exclusive.
---@param bufnr integer
---@return integer? first
---@return integer? last
local function shown_rows(bufnr)
  local first, last
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    local info = vim.fn.getwininfo(win)[1]
    first = math.min(first or math.huge, info.topline - 1)
    last = math.max(last or 0, info.botline)
  end
  return first, last
end

---Has the parser read what is on the screen and not much more.
---@param bufnr integer
function M.cover(bufnr)
  local count = api.nvim_buf_line_count(bufnr)
  local first, last = shown_rows(bufnr)
  local parser = first and vim.treesitter.highlighter.active[bufnr] and vim.treesitter.get_parser(bufnr)
  if not parser then
    return
  end
  local region = (parser:included_regions()[1] or {})[1]
  local is_whole = not region or (region[1] == 0 and region[4] >= count)
  if is_whole and count <= MAX_LINES then
    return
  end
  if not is_whole and region[1] <= first and region[4] >= last and region[4] - region[1] <= MAX_LINES then
    return
  end
  first, last = math.max(first - MARGIN, 0), math.min(last + MARGIN, count)
  local from, to = api.nvim_buf_get_offset(bufnr, first), api.nvim_buf_get_offset(bufnr, last)
  parser:set_included_regions({ { { first, 0, from, last, 0, to } } })
end

---Starts it. A Neovim without parsers shows plain text.
---@param bufnr integer
---@param group integer
function M.start(bufnr, group)
  if not pcall(vim.treesitter.start, bufnr, "markdown") then
    return
  end
  api.nvim_create_autocmd({ "WinScrolled", "BufWinEnter" }, {
    group = group,
    buffer = bufnr,
    desc = "lathe: highlight what is shown",
    callback = function()
      M.cover(bufnr)
    end,
  })
end

return M
