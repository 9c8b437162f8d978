-- A window with all that there is to know about one call: its arguments, and its result as the model read it. The only
-- buffer that is written here is the window's own.
local M = {}

local block = require("lathe.chat.draw.block")
local notify = require("lathe.notify")
local positions = require("lathe.chat.draw.positions")
local words = require("lathe.words")

local api = vim.api

local ns_view = api.nvim_create_namespace("lathe.view")

---@class lathe.Sheet
---@field lines string[]
---@field titles integer[] rows

---@param sheet lathe.Sheet
---@param title string
local function add_title(sheet, title)
  local lines = sheet.lines
  lines[#lines + 1] = ""
  sheet.titles[#sheet.titles + 1] = #lines
  lines[#lines + 1] = title
end

---@param sheet lathe.Sheet
---@param text string
---@param indent string
local function add_text(sheet, text, indent)
  for _, line in ipairs(text ~= "" and block.split(text) or {}) do
    sheet.lines[#sheet.lines + 1] = line == "" and "" or indent .. line
  end
end

---@param sheet lathe.Sheet
---@param place lathe.Place
local function add_arguments(sheet, place)
  add_title(sheet, "Arguments")
  local call = place.block and place.block.call
  local args = call and call.args or nil
  local text = place.source["function"].arguments
  if not args then
    local ok, decoded = pcall(vim.json.decode, text)
    args = ok and type(decoded) == "table" and decoded or nil
  end
  if not args then
    return add_text(sheet, text, "")
  end
  for _, name in ipairs(block.argument_names(args)) do
    local value = type(args[name]) == "string" and args[name] or vim.inspect(args[name])
    if value:find("\n", 1, true) then
      sheet.lines[#sheet.lines + 1] = block.one_line(tostring(name)) .. ":"
      add_text(sheet, value, "  ")
    else
      add_text(sheet, value, block.one_line(tostring(name)) .. ": ")
    end
  end
  if next(args) == nil then
    sheet.lines[#sheet.lines + 1] = "none"
  end
end

---What the model has read, or will read, as the result.
---@param chat lathe.Chat
---@param id string
---@return string?
local function result(chat, id)
  local messages = chat.messages
  for i = #messages, 1, -1 do
    local message = messages[i]
    if message.role == "tool" and message.tools.call_id == id then
      return message.content
    end
  end
end

---The text of a block below its line, as it is in the buffer.
---@param chat lathe.Chat
---@param place lathe.Place
---@return string
local function shown(chat, place)
  local lines = api.nvim_buf_get_lines(chat.bufnr, place.row + 1, place.end_row + 1, false)
  for i, line in ipairs(lines) do
    lines[i] = line:gsub("^  ", "")
  end
  return table.concat(lines, "\n")
end

---@param sheet lathe.Sheet
---@param chat lathe.Chat
---@param place lathe.Place
local function add_result(sheet, chat, place)
  local content = result(chat, place.source.id)
  if not content and place.block then
    local last = place.block.last_line and place.block.last_line(1000)
    local has_last = last and last ~= ""
    add_title(sheet, has_last and "No result yet; its last line" or "No result yet")
    return add_text(sheet, last or "", "")
  end
  local files = chat.cut_files[place.source.id]
  if files then
    add_title(sheet, files[2] and "The whole output is in these files" or "The whole output is in this file")
    add_text(sheet, table.concat(files, "\n"), "")
  end
  -- The results of calls that overlap reach the history in order.
  add_title(sheet, content and "Result, as the model read it" or "Result")
  add_text(sheet, content or shown(chat, place), "")
end

---@param chat lathe.Chat
---@param place lathe.Place
---@return lathe.Sheet
local function compose(chat, place)
  local own = place.block
  local line = own and chat.render.icons[own.state] .. " " .. own.head
    or api.nvim_buf_get_lines(chat.bufnr, place.row, place.row + 1, false)[1]
    or ""
  local sheet = { lines = { (line:gsub("[\r\n]", " ")) }, titles = { 0 } }
  local fact = own and own.live_fact and own.live_fact(vim.uv.now()) or place.fact or (own and own.fact)
  if place.source then
    local status = place.state == "question" and "asks" or place.state
    sheet.lines[2] = status .. (fact and fact ~= "" and fact ~= status and ", " .. fact or "")
    for _, asked in ipairs(chat.questions) do
      if own and asked.call == own.call then
        add_title(sheet, "Question")
        add_text(sheet, asked.prompt, "")
        add_text(sheet, words.cause_detail(asked.cause) or "", "")
        for _, want in ipairs(asked.wants or {}) do
          add_text(sheet, want.key .. ": " .. want.value, "")
        end
      end
    end
    add_arguments(sheet, place)
    add_result(sheet, chat, place)
  else
    sheet.lines[2] = fact
    sheet.lines[#sheet.lines + 1] = ""
    add_text(sheet, own and own.pieces and table.concat(own.pieces) or shown(chat, place), "")
  end
  return sheet
end

---@param sheet lathe.Sheet
---@param title string
local function show(sheet, title)
  local bufnr = api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].undolevels = -1
  api.nvim_buf_set_lines(bufnr, 0, -1, false, sheet.lines)
  vim.bo[bufnr].modifiable = false
  for _, row in ipairs(sheet.titles) do
    api.nvim_buf_set_extmark(
      bufnr,
      ns_view,
      row,
      0,
      { end_row = row + 1, end_col = 0, hl_group = "LatheTitle", strict = false }
    )
  end
  local width = math.max(math.min(vim.o.columns - 4, 120), 1)
  local height = math.max(math.min(#sheet.lines, math.floor(vim.o.lines * 0.85) - 2), 1)
  local win = api.nvim_open_win(bufnr, true, {
    relative = "editor",
    border = "rounded",
    title = " " .. block.cut(title, 60) .. " ",
    footer = " q closes ",
    footer_pos = "right",
    width = width,
    height = height,
    row = math.max(math.floor((vim.o.lines - height) / 2) - 1, 0),
    col = math.max(math.floor((vim.o.columns - width) / 2) - 1, 0),
  })
  -- stylua: ignore
  local options = { wrap = true, linebreak = true, number = false, relativenumber = false, foldenable = false }
  for name, value in pairs(options) do
    api.nvim_set_option_value(name, value, { win = win, scope = "local" })
  end
  for _, lhs in ipairs({ "q", "<Esc>" }) do
    vim.keymap.set("n", lhs, "<Cmd>close<CR>", { buffer = bufnr, nowait = true })
  end
end

---The block that a key is for: the one under the cursor, else the newest question.
---@param chat lathe.Chat
---@return lathe.Place?
local function find(chat)
  local render = chat.render
  if api.nvim_get_current_buf() == chat.bufnr then
    local place = positions.at(render, api.nvim_win_get_cursor(0)[1] - 1)
    if place then
      return place
    end
  end
  local newest = chat.questions[#chat.questions]
  local own = newest and newest.call.block
  if own then
    return { row = 0, end_row = 0, block = own, source = own.source, state = own.state }
  end
end

---Shows all of the call, the reasoning or the notice under the cursor, else of the newest question.
---@param chat lathe.Chat
function M.open(chat)
  local place = chat.render:is_alive() and find(chat)
  if not place then
    return notify.info("there is no call here: put the cursor on one")
  end
  local name = place.source and place.source["function"].name or place.state
  show(compose(chat, place), (name:gsub("[%c]", " ")))
end

return M
