-- What the input says about itself, all of it virtual text: facts beside its heading, how to begin in an empty chat,
-- mentions in colour, and that an edit of the history has no effect.
local M = {}

local block = require("lathe.chat.draw.block")
local mentions = require("lathe.tools.mentions")

local api = vim.api

local ns_hint = api.nvim_create_namespace("lathe.hint")
local ns_mention = api.nvim_create_namespace("lathe.mention")

local FACTS, PLACEHOLDER, NOTE = 1, 2, 3

-- So many lines of the input are searched for mentions each time that it changes.
local MAX_LINES = 500
local MAX_LINE_BYTES = 4096

---Cells of the narrowest window that shows a chat.
---@param bufnr integer
---@return integer? width nil: there is none
function M.width(bufnr)
  local width
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    local own = api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff
    width = math.min(width or own, own)
  end
  return width
end

---A number of tokens.
---@param count integer
---@return string such as `120`, `1.2k`, `3.4M`
local function tokens(count)
  if count < 100 then
    return tostring(count)
  elseif count < 999950 then
    return ("%.1fk"):format(count / 1000)
  end
  return ("%.1fM"):format(count / 1e6)
end

---What fits beside the heading.
---@param render lathe.Render
---@param width integer
---@return string?
local function facts(render, width)
  local parts, help, usage = {}, render.key("help"), render.usage
  parts[1] = render.is_auto and "auto mode" or nil
  parts[#parts + 1] = help and help .. " keys" or nil
  parts[#parts + 1] = "@ tools"
  parts[#parts + 1] = usage and ("%s/%s tokens"):format(tokens(usage.input), tokens(usage.output)) or nil
  local room = width - block.cells(render.heading) - 2
  if render.held then
    room = room - #(" (waits for the %s)"):format(render.held)
  end
  local text
  for _, part in ipairs(parts) do
    local longer = text and text .. "   " .. part or part
    if #longer > room then
      break
    end
    text = longer
  end
  return text
end

---What an empty chat says where its first message goes.
---@param render lathe.Render
---@param width integer
---@return string
local function invitation(render, width)
  local send, insert = render.key("send"), render.key("send", "i")
  local text = "i to write" .. (send and ", " .. send .. " to send" or "")
  for _, more in ipairs({ insert and (" (%s while writing)"):format(insert) or "", ", @ for tools" }) do
    if block.cells(text .. more) < width then
      text = text .. more
    end
  end
  return text
end

---@param bufnr integer
---@param id integer
---@param row integer
---@param text string?
---@param place "eol"|"eol_right_align"|"overlay"
local function set(bufnr, id, row, text, place)
  if text then
    local opts = { id = id, virt_text = { { text, "LatheFact" } }, virt_text_pos = place }
    api.nvim_buf_set_extmark(bufnr, ns_hint, row, 0, opts)
  else
    api.nvim_buf_del_extmark(bufnr, ns_hint, id)
  end
end

---Colours the mentions in some lines.
---@param render lathe.Render
---@param first integer row
---@param last integer row after the last
local function colour(render, first, last)
  local bufnr = render.bufnr
  api.nvim_buf_clear_namespace(bufnr, ns_mention, first, -1)
  for i, line in ipairs(api.nvim_buf_get_lines(bufnr, first, math.min(last, first + MAX_LINES), false)) do
    if #line <= MAX_LINE_BYTES and line:find("[@#]") then
      for _, span in ipairs(mentions.spans(line, render.knows)) do
        api.nvim_buf_set_extmark(bufnr, ns_mention, first + i - 1, span[1] - 1, {
          end_col = span[2],
          hl_group = "LatheMention",
          right_gravity = false,
        })
      end
    end
  end
end

---Shows what there is to say about the input.
---@param render lathe.Render
function M.show(render)
  local bufnr, row = render.bufnr, render:input_row()
  local width = M.width(bufnr)
  set(bufnr, FACTS, row, width and facts(render, width), "eol_right_align")
  local lines = row == 0 and api.nvim_buf_get_lines(bufnr, 0, 4, false) or {}
  local is_new = lines[1] == render.heading and #lines <= 3 and not (lines[2] or ""):find("%S") and lines[3] == ""
  render.is_inviting = is_new and width ~= nil
  set(bufnr, PLACEHOLDER, is_new and 2 or 0, is_new and width and invitation(render, width) or nil, "overlay")
end

---What the user has typed is part of the history from now on.
---@param render lathe.Render
---@param first integer row
---@param last integer row after the last
function M.take(render, first, last)
  colour(render, first, last)
  api.nvim_buf_del_extmark(render.bufnr, ns_hint, NOTE)
end

---Tells, once, that what was changed above the input is not what the model has read.
---@param render lathe.Render
---@param row integer
local function note(render, row)
  if not render:is_alive() then
    return
  end
  row = math.min(row, api.nvim_buf_line_count(render.bufnr) - 1)
  set(render.bufnr, NOTE, row, "  not sent: the history stays as it was", "eol")
end

---Listens to changes of the history.
---@param render lathe.Render
function M.attach(render)
  api.nvim_buf_attach(render.bufnr, false, {
    on_lines = function(_, _, _, first)
      if render.closed then
        return true
      end
      if render.is_writing or render.is_noted or first >= render:input_row() then
        return
      end
      render.is_noted = true
      -- Nothing may be set while a buffer changes.
      vim.schedule(function()
        note(render, first)
      end)
    end,
  })
end

---Keeps the hints as the input is.
---@param render lathe.Render
---@param group integer of autocommands
function M.watch(render, group)
  local function show()
    if render:is_alive() then
      M.show(render)
    end
  end
  api.nvim_create_autocmd({ "TextChanged", "TextChangedI", "TextChangedP" }, {
    group = group,
    buffer = render.bufnr,
    desc = "lathe: mentions in colour",
    callback = function()
      if not render:is_alive() then
        return
      end
      local row = render:input_row()
      if render.is_inviting or row == 0 then
        M.show(render)
      end
      colour(render, row, math.huge)
    end,
  })
  api.nvim_create_autocmd("BufWinEnter", {
    group = group,
    buffer = render.bufnr,
    desc = "lathe: what fits beside the input's heading",
    callback = show,
  })
  api.nvim_create_autocmd({ "WinResized", "WinClosed" }, {
    group = group,
    desc = "lathe: what fits beside the input's heading",
    callback = vim.schedule_wrap(show),
  })
  M.attach(render)
end

return M
