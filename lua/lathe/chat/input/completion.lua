-- Completion in a chat's input: tools and groups after `@`, buffers and selections after `#`, prompts after `/`.
-- Nothing is inserted, and no key is taken, before the user chooses.
local M = {}

local api = vim.api

local context = require("lathe.chat.input.context")
local mentions = require("lathe.tools.mentions")
local menus = require("lathe.chat.draw.menus")
local server_mentions = require("lathe.chat.input.server_mentions")
local tools = require("lathe.tools")

-- Tools come from files: no more of them are read for their description than this allows; the rest next time.
local READ_MS = 4

---@param description any
---@return string of one line
local function one_line(description)
  local text = type(description) == "string" and description:gsub("%s+", " "):gsub("^ ", "") or ""
  return vim.fn.strchars(text) > 50 and vim.fn.strcharpart(text, 0, 49) .. "…" or text
end

---@param word string
---@param abbr string
---@param kind string
---@param menu string
---@param info string?
---@return table item of `complete-items`
local function item(word, abbr, kind, menu, info)
  -- `equal`: what fits is decided here.
  return { word = word, abbr = abbr, kind = kind, menu = menu, info = info, equal = 1, dup = 1, user_data = "lathe" }
end

---@param chat lathe.Chat
---@return table[] items
local function offered_tools(chat)
  local list = {}
  local until_ns = vim.uv.hrtime() + READ_MS * 1e6
  for _, name in ipairs(tools.names(true, chat)) do
    local kind, description = tools.about(name, vim.uv.hrtime() < until_ns, chat)
    local info = type(description) == "string" and description ~= "" and description or nil
    list[#list + 1] = item("@{" .. name .. "}", name, kind, one_line(description), info)
  end
  return list
end

---@param chat lathe.Chat
---@param typed string
---@return table[] items
local function offered_contexts(chat, typed)
  local list = {}
  local offers =
    vim.list_extend(context.offers(chat.cwd, vim.startswith(typed, "buffer:")), server_mentions.references())
  for _, offer in ipairs(offers) do
    list[#list + 1] = item("#{" .. offer.name .. "}", offer.name, "context", one_line(offer.description))
  end
  return list
end

---@return table[] items the prompts of native servers, at the beginning of a line
local function offered_commands()
  return vim.tbl_map(function(name)
    return item("/" .. name, name, "prompt", "")
  end, server_mentions.commands())
end

---What is being written before the cursor.
---@param before string the line up to the cursor
---@return integer? col where it begins, 0-based
---@return string? sign "@", "#" or "/"
---@return string? typed of the name
local function begun(before)
  local command = before:match("^/(%S*)$")
  if command then
    return 0, "/", command
  end
  local col, sign, typed = before:match("()([@#]){?([^%s{}@#]*)$")
  if col and mentions.begins_word(before, col) then
    return col - 1, sign, typed
  end
end

---@param chat lathe.Chat
---@param before string the line up to the cursor
---@param after string what follows
---@return integer? col where it begins, 0-based
---@return table[] items
local function matches(chat, before, after)
  local col, sign, typed = begun(before)
  if not col or not typed then
    return nil, {}
  end
  local items = sign == "/" and offered_commands()
    or sign == "@" and offered_tools(chat)
    or offered_contexts(chat, typed)
  local wanted = typed:lower()
  items = vim.tbl_filter(function(candidate)
    return vim.startswith(candidate.abbr:lower(), wanted)
  end, items)
  -- A plugin has closed the brace already.
  if before:sub(col + 2, col + 2) == "{" and after:sub(1, 1) == "}" then
    for _, candidate in ipairs(items) do
      candidate.word = candidate.word:sub(1, -2)
    end
  end
  return col, items
end

local chats = setmetatable({}, { __mode = "v" }) ---@type table<integer, lathe.Chat> by buffer

---The chat whose input the cursor is in.
---@return lathe.Chat?
local function chat_at_cursor()
  local chat = chats[api.nvim_get_current_buf()]
  local row = api.nvim_win_get_cursor(0)[1] - 1
  return chat and chat.render:is_alive() and row >= chat.render:input_row() and chat or nil
end

---@return string before the cursor
---@return string after it
local function line_at_cursor()
  local line, col = api.nvim_get_current_line(), api.nvim_win_get_cursor(0)[2]
  return line:sub(1, col), line:sub(col + 1)
end

local omni_chat, omni_after ---@type lathe.Chat?, string

---'omnifunc' of a chat.
---@param find_start 0|1
---@param base string
---@return integer|table
function M.omnifunc(find_start, base)
  if find_start == 0 then
    local items = {}
    if omni_chat then
      items = select(2, matches(omni_chat, base, omni_after))
    end
    return { words = items, refresh = "always" }
  end
  local before, after = line_at_cursor()
  omni_chat, omni_after = chat_at_cursor(), after
  return omni_chat and begun(before) or -3
end

local seen = setmetatable({}, { __mode = "k" }) ---@type table<lathe.Chat, string> what stood before the cursor

---Shows the menu while a mention is typed.
---@param chat lathe.Chat
---@param is_open boolean a menu is open
local function pop_up(chat, is_open)
  if vim.fn.reg_executing() ~= "" or vim.fn.reg_recording() ~= "" or chat_at_cursor() ~= chat then
    return
  end
  local before, after = line_at_cursor()
  -- What the model writes changes the buffer as well; and a menu that was closed stays closed.
  if before == seen[chat] then
    return
  end
  seen[chat] = before
  if is_open then
    local info = vim.fn.complete_info({ "mode", "selected", "items" })
    local is_ours = info.mode == "eval" and info.items[1] and info.items[1].user_data == "lathe"
    if not is_ours or info.selected ~= -1 then
      return
    end
  elseif menus.is_open() then
    return
  end
  local col, items = matches(chat, before, after)
  if col and (items[1] or is_open) then
    vim.fn.complete(col + 1, items)
  end
end

---Completes in a chat's buffer.
---@param chat lathe.Chat
---@param group integer of its autocommands
function M.start(chat, group)
  local bufnr = chat.bufnr
  chats[bufnr] = chat
  vim.bo[bufnr].omnifunc = "v:lua.require'lathe.chat.input.completion'.omnifunc"
  -- Without a selection nothing is inserted. `noinsert` besides it would make <CR> close the menu and do nothing else.
  vim.bo[bufnr].completeopt = "menuone,noselect,popup"
  for event, is_open in pairs({ TextChangedI = false, TextChangedP = true }) do
    api.nvim_create_autocmd(event, {
      group = group,
      buffer = bufnr,
      desc = "lathe: offer what a mention can name",
      callback = function()
        pop_up(chat, is_open)
      end,
    })
  end
  api.nvim_create_autocmd("InsertEnter", {
    group = group,
    buffer = bufnr,
    desc = "lathe: offer it again",
    callback = function()
      seen[chat] = nil
    end,
  })
end

return M
