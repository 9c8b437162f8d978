-- What a buffer, some of its lines, or its last selection hold, as text for a model: read within a limit, in a fence.
-- What mentions stand for is in `context.lua`.
local M = {}

local api = vim.api

local block = require("lathe.chat.draw.block")

-- A block of more lines is cut here whatever it weighs.
local MAX_BLOCK_LINES = 10000

---@class lathe.Excerpt
---@field name string how the buffer is called
---@field lines string[]
---@field first integer line number
---@field last integer line number
---@field filetype string
---@field is_changed boolean
---@field cut_at integer? the last line that is there, when some are not

local to_line_end = {} ---@type table<integer, boolean> buffers whose last block was selected with `$`

---Follows how blocks are selected: their marks do not tell.
---@param group integer
function M.watch(group)
  api.nvim_create_autocmd("ModeChanged", {
    group = group,
    pattern = "\22:*",
    desc = "lathe: note whether a block goes to the ends of its lines",
    callback = function()
      to_line_end[api.nvim_get_current_buf()] = vim.fn.winsaveview().curswant == vim.v.maxcol
    end,
  })
  api.nvim_create_autocmd("BufWipeout", {
    group = group,
    desc = "lathe: forget a buffer",
    callback = function(event)
      to_line_end[event.buf] = nil
    end,
  })
end

---How a buffer is called: its path in the chat's folder.
---@param bufnr integer
---@param cwd string
---@return string name of one line
function M.name(bufnr, cwd)
  local name = api.nvim_buf_get_name(bufnr)
  if name == "" then
    return ("[No Name] (buffer %d)"):format(bufnr)
  end
  if name:sub(1, 1) == "/" then
    name = vim.fs.relpath(cwd, name) or vim.fn.fnamemodify(name, ":~")
  end
  return (name:gsub("%c", "?"))
end

---The lines of a file that is known but not loaded; loading it would be the user's to do.
---@param path string
---@param max_bytes integer
---@return string[]? lines
---@return boolean? cut
local function read_file(path, max_bytes)
  local stat = vim.uv.fs_stat(path)
  if not stat or stat.type ~= "file" then
    return nil
  end
  local file = vim.uv.fs_open(path, "r", 0)
  local text = file and vim.uv.fs_read(file, max_bytes, 0)
  if file then
    vim.uv.fs_close(file)
  end
  if not text then
    return nil
  end
  local cut = stat.size > #text
  if cut then
    text = text:match("^(.*)\n") or text
  end
  return vim.split(text:gsub("\n$", ""), "\n", { plain = true }), cut
end

---@param lines string[]
---@param max_bytes integer
---@return string[] lines as many as fit
---@return boolean cut
local function limit(lines, max_bytes)
  local bytes = 0
  for i, line in ipairs(lines) do
    bytes = bytes + #line + 1
    if bytes > max_bytes + 1 then
      local left = max_bytes - (bytes - #line)
      local kept = vim.list_slice(lines, 1, i - 1)
      if i == 1 then
        kept[1] = block.cut(line, math.max(left - 4, 0))
      end
      return kept, true
    end
  end
  return lines, false
end

---Lines of a loaded buffer, as many as fit.
---@param bufnr integer
---@param first integer
---@param last integer
---@param max_bytes integer
---@return string[] lines
---@return boolean cut
local function read_lines(bufnr, first, last, max_bytes)
  local start = api.nvim_buf_get_offset(bufnr, first - 1)
  local function fits(lnum)
    return api.nvim_buf_get_offset(bufnr, lnum) - start <= max_bytes
  end
  local low, high = first - 1, last -- what fits, and how far it may go
  if fits(last) then
    low = last
  end
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if fits(middle) then
      low = middle
    else
      high = middle - 1
    end
  end
  low = math.max(low, first)
  -- Of the line that was changed last Neovim may not know the length yet.
  local lines, cut = limit(api.nvim_buf_get_lines(bufnr, first - 1, low, false), max_bytes)
  return lines, cut or low < last
end

---Where a buffer was selected last.
---@param bufnr integer
---@return { [1]: integer, [2]: integer, [3]: integer, [4]: integer }? from as of `getpos()`
---@return { [1]: integer, [2]: integer, [3]: integer, [4]: integer }? to
---@return string? kind "v", "V" or CTRL-V
function M.selected(bufnr)
  if not api.nvim_buf_is_loaded(bufnr) then
    return nil
  end
  local is_current = api.nvim_get_current_buf() == bufnr
  return unpack(api.nvim_buf_call(bufnr, function()
    local from, to, kind = vim.fn.getpos("'<"), vim.fn.getpos("'>"), vim.fn.visualmode()
    local mode = is_current and vim.fn.mode() or "n"
    if mode:find("^[vV\22]") then -- it is being selected
      from, to, kind = vim.fn.getpos("v"), vim.fn.getpos("."), mode
      if from[2] > to[2] or (from[2] == to[2] and from[3] > to[3]) then
        from, to = to, from
      end
    end
    if kind == "" or from[2] == 0 or to[2] == 0 or to[2] > vim.fn.line("$") then
      return {}
    end
    from[1], to[1] = bufnr, bufnr
    return { from, to, kind }
  end))
end

---The right end of a block that was selected with `$` is the end of each line.
---@param bufnr integer
---@param from integer[]
---@param to integer[]
---@return string[]
local function block_to_line_end(bufnr, from, to)
  return api.nvim_buf_call(bufnr, function()
    local left = math.min(vim.fn.virtcol({ from[2], from[3] }, 1)[1], vim.fn.virtcol({ to[2], to[3] }, 1)[1])
    local lines = {}
    for lnum = from[2], to[2] do
      local line = vim.fn.getline(lnum)
      local is_long = vim.fn.virtcol({ lnum, "$" }) > left
      lines[#lines + 1] = is_long and line:sub(vim.fn.virtcol2col(0, lnum, left)) or ""
    end
    return lines
  end)
end

---@param bufnr integer
---@param max_bytes integer
---@return string[]? lines
---@return integer? first
---@return integer? last
---@return boolean? cut
local function read_selection(bufnr, max_bytes)
  local from, to, kind = M.selected(bufnr)
  if not from or not to then
    return nil
  end
  local first, last = from[2], to[2]
  local lines, cut
  if kind == "V" then
    lines, cut = read_lines(bufnr, first, last, max_bytes)
  elseif kind == "\22" then
    local end_lnum = math.min(last, first + MAX_BLOCK_LINES - 1)
    if to_line_end[bufnr] then
      lines = block_to_line_end(bufnr, from, { bufnr, end_lnum, to[3], to[4] })
    else
      lines = vim.fn.getregion(from, { bufnr, end_lnum, to[3], to[4] }, { type = kind })
    end
    lines, cut = limit(lines, max_bytes)
    cut = cut or end_lnum < last
  elseif first == last then
    lines, cut = limit(vim.fn.getregion(from, to, { type = "v" }), max_bytes)
  else
    lines, cut = read_lines(bufnr, first, last, max_bytes)
    lines[1] = lines[1]:sub(from[3])
    if not cut then
      lines[#lines] = vim.fn.getregion({ bufnr, last, 1, 0 }, to, { type = "v" })[1]
    end
  end
  return lines, first, last, cut
end

---Reads.
---@param bufnr integer
---@param which { first: integer, last: integer }|"selection"|nil nil: all of it
---@param limits { max_bytes: integer }
---@param cwd string
---@return lathe.Excerpt?
---@return string? fault
function M.read(bufnr, which, limits, cwd)
  local name = M.name(bufnr, cwd)
  local lines, first, last, cut
  if which == "selection" then
    lines, first, last, cut = read_selection(bufnr, limits.max_bytes)
    if not lines then
      return nil, ("nothing was selected in %s"):format(name)
    end
  elseif not api.nvim_buf_is_loaded(bufnr) then
    lines, cut = read_file(api.nvim_buf_get_name(bufnr), limits.max_bytes)
    if not lines then
      return nil, name .. " cannot be read"
    end
    first, last = 1, cut and math.huge or #lines
  else
    local count = api.nvim_buf_line_count(bufnr)
    first, last = which and which.first or 1, math.min(which and which.last or count, count)
    lines, cut = read_lines(bufnr, first, last, limits.max_bytes)
  end
  local filetype = vim.bo[bufnr].filetype
  if filetype == "" then
    filetype = vim.filetype.match({ filename = api.nvim_buf_get_name(bufnr) }) or ""
  end
  for i, line in ipairs(lines) do
    lines[i] = line:find("\n", 1, true) and line:gsub("\n", "\0") or line -- as Neovim gives a NUL
  end
  return {
    name = name,
    lines = lines,
    first = first,
    last = last,
    filetype = filetype:match("^[%w_%-%+]+") or "",
    is_changed = vim.bo[bufnr].modified,
    cut_at = cut and first + #lines - 1 or nil,
  }
end

---@param excerpt lathe.Excerpt
---@return string such as `line 3` or `lines 3-5`
local function range_of(excerpt)
  local last = excerpt.cut_at or excerpt.last
  return last > excerpt.first and ("lines %d-%d"):format(excerpt.first, last) or ("line %d"):format(excerpt.first)
end

---What is missing of an excerpt.
---@param excerpt lathe.Excerpt
---@param max_bytes integer
---@return string? mark nil when nothing is
function M.mark(excerpt, max_bytes)
  if not excerpt.cut_at then
    return nil
  end
  local has_more = excerpt.last ~= math.huge and excerpt.last > excerpt.first
  local of = has_more and (" of %d-%d"):format(excerpt.first, excerpt.last) or ""
  return ("cut at %d bytes: %s%s"):format(max_bytes, range_of(excerpt), of)
end

---A text in a code span, whatever it holds.
---@param text string
---@return string
function M.span(text)
  local longest = 0
  for run in text:gmatch("`+") do
    longest = math.max(longest, #run)
  end
  local ticks = ("`"):rep(longest + 1)
  local blank = longest > 0 and " " or ""
  return ticks .. blank .. text .. blank .. ticks
end

---An excerpt as a model and a user read it: where it is from, and the text in a fence that nothing in it can end.
---@param excerpt lathe.Excerpt
---@param max_bytes integer
---@return string
function M.fenced(excerpt, max_bytes)
  local text = table.concat(excerpt.lines, "\n")
  local longest = 2
  for run in text:gmatch("`+") do
    longest = math.max(longest, #run)
  end
  local fence = ("`"):rep(longest + 1)
  local mark = M.mark(excerpt, max_bytes)
  local head = M.span(excerpt.name)
    .. ", "
    .. (mark or range_of(excerpt))
    .. (excerpt.is_changed and ", not saved" or "")
    .. ":\n\n"
  return head .. fence .. excerpt.filetype .. "\n" .. text .. "\n" .. fence
end

return M
