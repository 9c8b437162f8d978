-- How one block looks (a call, the model's reasoning, a notice): its line, the text below it, its icon, its facts.
-- Pure: the buffer is written by `render.lua`.
local M = {}

local find, sub = string.find, string.sub

---@class lathe.Block
---@field kind "call"|"reasoning"|"notice"
---@field state string key of the icons
---@field head string what its line says after the icon
---@field body string[]|false texts shown below
---@field lines string[]? lines shown below, which no limit cuts
---@field question lathe.QuestionText|false an open question
---@field fact string? short text at the right edge
---@field live_fact (fun(now_ms: integer): string)? what stands there while it can change
---@field is_live boolean whether it can still change
---@field running_since integer? uv.now() of its start, while it runs
---@field last_line (fun(width: integer): string?)? what it printed last
---@field source lathe.FunctionCall? the call that it shows
---@field call lathe.Call? the same, while it is live
---@field dirty boolean? what the buffer shows of it is old
---@field first string? its first line, as it is in the buffer
---@field range integer? mark of its place, while it can change or when it has more than one line
---@field look integer? mark of its looks

-- stylua: ignore
local sets = {
  unicode = {
    waiting = "·", running = "·", question = "?", success = "✓", error = "✗", invalid = "!", rejected = "✗",
    denied = "✗", cancelled = "■", stopped = "■", skipped = "■", timeout = "⏱", notice = "!", reasoning = "·",
  },
  ascii = {
    waiting = ".", running = ".", question = "?", success = "+", error = "x", invalid = "!", rejected = "x",
    denied = "x", cancelled = "-", stopped = "-", skipped = "-", timeout = "t", notice = "!", reasoning = ".",
  },
}

local colours = {
  waiting = "LatheFact",
  running = "LatheRunning",
  question = "LatheQuestion",
  success = "LatheSuccess",
  error = "LatheError",
  invalid = "LatheError",
  rejected = "LatheError",
  denied = "LatheError",
  cancelled = "LatheStopped",
  stopped = "LatheStopped",
  skipped = "LatheStopped",
  timeout = "LatheError",
  notice = "LatheNotice",
  reasoning = "LatheFact",
}

for name, link in pairs({
  LatheSuccess = "DiagnosticOk",
  LatheError = "DiagnosticError",
  LatheQuestion = "DiagnosticWarn",
  LatheRunning = "DiagnosticInfo",
  LatheStopped = "DiagnosticWarn",
  LatheNotice = "DiagnosticWarn",
  LatheFact = "Comment",
  LatheReasoning = "Comment",
  LatheKey = "Special",
  LatheMention = "Special",
  LatheFold = "Normal",
  LatheTitle = "Title",
}) do
  vim.api.nvim_set_hl(0, name, { link = link, default = true })
end

---@param given table<string, string>|"ascii"|nil `display.icons`
---@return table<string, string>
function M.icons(given)
  if given == "ascii" then
    return sets.ascii
  end
  return vim.tbl_extend("force", sets.unicode, given or {})
end

---Lines of a text; all the usual line ends count.
---@param text string
---@return string[]
function M.split(text)
  if find(text, "\r", 1, true) then
    text = text:gsub("\r\n", "\n"):gsub("\r", "\n")
  end
  local lines, n, from = {}, 0, 1
  while true do
    local at = find(text, "\n", from, true)
    n = n + 1
    if not at then
      lines[n] = sub(text, from)
      return lines
    end
    lines[n] = sub(text, from, at - 1)
    from = at + 1
  end
end

---A text, cut when it is too long, but not inside a character.
---@param text string any bytes, NUL included
---@param max_bytes integer
---@return string
function M.cut(text, max_bytes)
  if #text <= max_bytes then
    return text
  end
  return sub(text, 1, max_bytes + vim.str_utf_start(text, max_bytes + 1)) .. "…"
end

---How wide a text is on the screen.
---@param text string any bytes
---@return integer cells
function M.cells(text)
  -- What Neovim shows as `^@` and the like.
  if find(text, "%c") then
    text = text:gsub("%c", "^^")
  end
  return vim.api.nvim_strwidth(text)
end

---The beginning of a text, as much as fits.
---@param text string any bytes
---@param width integer cells
---@return string
function M.fit(text, width)
  if #text <= width or M.cells(text) <= width then
    return text
  end
  text = sub(text, 1, 8 * math.max(width, 0))
  local used, last = 1, 0
  local starts = vim.str_utf_pos(text)
  for i, from in ipairs(starts) do
    local to = (starts[i + 1] or #text + 1) - 1
    used = used + M.cells(sub(text, from, to))
    if used > width then
      break
    end
    last = to
  end
  return width > 0 and sub(text, 1, last) .. "…" or ""
end

---The end of a text, as much as fits.
---@param text string any bytes
---@param width integer cells
---@return string
function M.fit_end(text, width)
  if #text <= width or M.cells(text) <= width then
    return text
  end
  local used, first = 1, #text + 1
  local starts = vim.str_utf_pos(text)
  for i = #starts, 1, -1 do
    used = used + M.cells(sub(text, starts[i], first - 1))
    if used > width then
      break
    end
    first = starts[i]
  end
  return "…" .. sub(text, first)
end

---A text in one line, cut when it is very long.
---@param text string
---@return string
function M.one_line(text)
  if find(text, "[\r\n]") then
    text = text:gsub("^%s+", ""):gsub("%s+$", ""):gsub("\r?\n", " ⏎ "):gsub("\r", " ")
  end
  return M.cut(text, 400)
end

-- A result that was cut to the limits has a mark besides: it is not cut again for that.
local MARK_LINES, MARK_BYTES = 8, 512

local none = {}

---Appends a block's lines to `lines`.
---@param lines string[]
---@param n integer how many there are
---@param block lathe.Block
---@param icons table<string, string>
---@param limits { max_lines: integer, max_bytes: integer }
---@return integer count of lines appended
function M.append(lines, n, block, icons, limits)
  local start = n
  n = n + 1
  lines[n] = icons[block.state] .. " " .. block.head
  local body = block.body
  if body then
    local max_lines, max_bytes = limits.max_lines + MARK_LINES, limits.max_bytes + MARK_BYTES
    for i = 1, #body do
      local text = body[i]
      if #text < max_bytes and not find(text, "[\r\n]") then
        n = n + 1
        lines[n] = "  " .. text
      else
        local cut = #text > max_bytes
        local all = M.split(cut and sub(text, 1, max_bytes) or text)
        local last = math.min(#all, max_lines)
        while last > 1 and all[last] == "" do
          last = last - 1
        end
        for k = 1, last do
          n = n + 1
          lines[n] = all[k] == "" and "" or "  " .. all[k]
        end
        if cut or #all > max_lines then
          n = n + 1
          lines[n] = "  … (the rest is not shown)"
        end
      end
    end
  end
  for _, line in ipairs(block.lines or none) do
    n = n + 1
    lines[n] = line == "" and "" or "  " .. line
  end
  for _, line in ipairs(block.question and block.question.lines or none) do
    n = n + 1
    lines[n] = line == "" and "" or "  " .. line
  end
  return n - start
end

-- One table for all marks: Neovim copies what it is given, and a large batch sets thousands.
local chunk = { "", "LatheFact" }
local virt_text = { chunk }
local virt_lines = { { { "", "LatheFact" } } }
local opts = {} ---@type vim.api.keyset.set_extmark

---Whether a fact fits beside a block's first line. Where a wrapped line ends is not known exactly: it breaks at words.
---@param block lathe.Block
---@param fact string
---@param width integer cells of the window
---@return boolean
function M.fits(block, fact, width)
  local own, room = 2 + M.cells(block.head), M.cells(fact) + 2
  return own + room <= width or (own > width and own % width + room + 12 <= width)
end

---The extmark that colours the icon and shows the fact; nil when there is nothing to show.
---@param block lathe.Block
---@param icons table<string, string>
---@param width integer? cells of the narrowest window that shows it
---@return vim.api.keyset.set_extmark? opts valid until the next call
function M.look(block, icons, width)
  local state, fact = block.state, block.fact
  if state == "running" then
    return nil -- the spinner lies over it
  end
  opts.id = block.look
  -- Reasoning stands back as a whole.
  opts.end_col = #icons[state] + (state == "reasoning" and 1 + #block.head or 0)
  opts.hl_group = colours[state] or "LatheFact"
  -- What is cut off at the edge says nothing: it goes below then.
  local fits = fact and (not width or M.fits(block, fact, width))
  chunk[1] = fact or ""
  virt_lines[1][1][1] = "  " .. (fact or "")
  opts.virt_text = fits and virt_text or nil
  opts.virt_text_pos = fits and "eol_right_align" or nil
  opts.virt_lines = fact and not fits and virt_lines or nil
  return opts
end

local unicode_frames = { "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏" }
local ascii_frames = { "|", "/", "-", "\\" }

---The spinner at a time.
---@param now_ms integer
---@param icons table<string, string>
---@return string
function M.frame(now_ms, icons)
  local frames = icons == sets.ascii and ascii_frames or unicode_frames
  return frames[math.floor(now_ms / 100) % #frames + 1]
end

---A time as a clock shows it.
---@param ms number
---@return string such as `0:42`
function M.clock(ms)
  local seconds = math.floor(ms / 1000)
  return ("%d:%02d"):format(math.floor(seconds / 60), seconds % 60)
end

---What the right edge says while a call runs.
---@param block lathe.Block
---@param now_ms integer
---@param skip_key string? that ends a call
---@return string? fact nil when it does not run
function M.running_fact(block, now_ms, skip_key)
  if block.state ~= "running" or not block.running_since then
    return nil
  end
  local ms = now_ms - block.running_since
  local skip = block.kind == "call" and skip_key
  return ms < 1000 and "" or M.clock(ms) .. (skip and "  " .. skip .. " skip" or "")
end

---A time in the unit that suits it.
---@param ms number
---@return string? such as `0.4 ms`, `12.3 s`; nil when it is nothing
function M.duration(ms)
  if ms < 0.1 then
    return nil
  elseif ms < 10 then
    return ("%.1f ms"):format(ms)
  elseif ms < 1000 then
    return ("%d ms"):format(ms)
  elseif ms < 60000 then
    return ("%.1f s"):format(ms / 1000)
  end
  return M.clock(ms)
end

---Names of arguments, in order.
---@param args table
---@return any[]
function M.argument_names(args)
  local names = vim.tbl_keys(args)
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  return names
end

return M
