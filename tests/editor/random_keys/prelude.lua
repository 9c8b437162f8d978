-- Words of the model are `<number>`, which no key can make: only what it said holds them.
-- luacheck: globals alive allowed below chats expected faults guard guard_cursor guard_tick guard_win is_any_busy
-- luacheck: globals is_any_running last_text look new seed seen_keys told tools touched turn undone whole written

vim.o.winminwidth = 4 -- in windows of one column an assertion of Neovim 0.11 fails, with or without chats
vim.o.swapfile = false
vim.o.more = false
vim.o.timeoutlen, vim.o.showmode = 20, false -- else an error stays on the screen for a second or more
vim.o.mouse = "a"
vim.o.messagesopt = "wait:0,history:500" -- nothing waits for a key
vim.fn.setreg("x", "from a register")
told, faults, seen_keys, touched, expected, allowed, last_text = {}, {}, 0, {}, {}, {}, {}
vim.notify = function(text)
  told[#told + 1] = text
end
for _, mode in ipairs({ "n", "i", "x", "s", "o", "c", "t" }) do
  vim.keymap.set(mode, "<F12>", function()
    seen_keys = seen_keys + 1
  end)
end
-- `q` that stops; the other one records, and while it does an error stays on the screen for a second.
vim.keymap.set("n", "<F9>", function()
  local chat = require("lathe").get_chat(0)
  return chat and chat.is_running and "q" or ""
end, { expr = true, remap = true })
-- What would leave the editor, run a program, or play what was recorded for ever.
for _, lhs in ipairs({
  "@",
  "Q",
  "gQ",
  "ZZ",
  "ZQ",
  "<C-z>",
  "K",
  "!",
  "gx",
  "gf",
  "gF",
  "<C-]>",
  "<C-w>q",
  "<C-w><C-q>",
  "U",
  "p",
  "P",
}) do
  vim.keymap.set({ "n", "x" }, lhs, "<Nop>")
end
local state = 0
function below(n)
  state = (state * 1103515245 + 12345) % 2147483648
  return math.floor(state / 65536) % n
end
function seed(n)
  state = n * 7919 + 17
end
local number = 0
local function word()
  number = number + 977
  return ("<%d>"):format(1000000 + number)
end
local function text()
  local words = {}
  for i = 1, below(12) + 1 do
    words[i] = word() .. (below(5) == 0 and "\n\n" or below(9) == 0 and "\n```lua\n" or " ")
  end
  return vim.trim(table.concat(words))
end
local names = { "plain", "late", "asks", "asks", "command", "beside", "missing" }
local function calls()
  local list = {}
  for i = 1, below(4) + 1 do
    list[i] = { name = names[below(#names) + 1], arguments = { n = below(100) } }
  end
  return list
end
whole = {} -- texts that a turn gave in full
function turn(messages)
  local kind = below(12)
  local content = text()
  last_text[messages] = content
  whole[content] = true
  if kind == 0 then
    return { text = content, error = "failed" }
  end
  if kind == 1 then
    return { text = content, hang = true }
  end
  if kind <= 5 then
    return { text = content, tool_calls = calls() }
  end
  local chunks = {}
  for piece in content:gmatch("[^>]*>?") do
    if piece ~= "" then
      chunks[#chunks + 1] = piece
    end
  end
  return { chunks = chunks, delay_ms = below(3), reasoning = kind == 6 and "thinking" or nil }
end
local function some(name, cmds, opts)
  return tool(name, cmds, { opts = vim.tbl_extend("force", { timeout = 400 }, opts or {}) })
end
local function now(_, args)
  return { status = "success", data = "result " .. args.n }
end
local function later(_, args, opts)
  vim.defer_fn(function()
    opts.output_cb({ status = "success", data = args.n })
  end, args.n % 30)
end
tools = {
  plain = some("plain", { now }),
  late = some("late", { later }),
  asks = some("asks", { now }, { require_approval_before = true }),
  command = some("command", { "echo one; sleep 0.0" .. "1; echo two" }),
  beside = some("beside", { later }, { parallel = true }),
}
require("lathe").setup({
  adapters = {
    http = {
      fake = require("lathe.adapters").extend("scripted", {
        turns = function(messages)
          return turn(messages)
        end,
      }),
    },
  },
  interactions = {
    chat = {
      adapter = "fake",
      tools = vim.tbl_extend("force", { opts = { default_tools = vim.tbl_keys(tools) } }, tools),
    },
  },
})
local function fault(format, ...)
  faults[#faults + 1] = format:format(...)
end
chats = {}
function new()
  local chat = require("lathe").chat()
  chats[#chats + 1] = chat
  local class = getmetatable(chat)
  if not class.is_watched then
    class.is_watched = true
    for _, name in ipairs({ "clear", "retry", "edit_last" }) do
      local act = class[name]
      class[name] = function(self)
        touched[self.id] = 10
        return act(self)
      end
    end
  end
  return chat
end
function alive()
  return vim.tbl_filter(function(chat)
    return not chat.is_closing
  end, chats)
end
function written()
  local sum = 0
  for _, chat in ipairs(alive()) do
    sum = sum + chat.render.written_ms
  end
  return sum
end
function is_any_busy()
  return vim.iter(alive()):any(function(chat)
    return chat.is_running and #chat.questions == 0
  end)
end
function is_any_running()
  return vim.iter(alive()):any(function(chat)
    return chat.is_running
  end)
end
local function chat_of(id)
  for _, chat in ipairs(chats) do
    if chat.id == id then
      return chat
    end
  end
end
vim.api.nvim_create_autocmd("User", {
  pattern = { "LatheChatCreated", "LatheChatDone", "LatheChatStopped" },
  callback = function(event)
    local chat = chat_of(event.data.chat_id)
    if event.match == "LatheChatCreated" or not chat then
      return
    end
    local content = last_text[chat.messages]
    if event.data.status ~= "done" then
      if content then
        allowed[content] = true
      end
    elseif content then
      local last = chat.messages[#chat.messages]
      if last.role ~= "llm" or last.content ~= content then
        fault("chat %d: the turn ended with %s, not %s", chat.id, vim.inspect(last.content), vim.inspect(content))
      end
    end
  end,
})
local function tokens(bufnr)
  local found = {}
  for _, line in ipairs(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)) do
    for token, n in line:gmatch("(<(%d+)>)") do
      if (tonumber(n) - 1000000) % 977 == 0 then
        found[token] = true
      end -- the user may have counted one up
    end
  end
  return found
end
undone = 0
vim.keymap.set("n", "u", function()
  local bufnr = vim.api.nvim_get_current_buf()
  local before = tokens(bufnr)
  pcall(vim.cmd, "silent undo")
  undone = undone + 1
  local after = tokens(bufnr)
  for token in pairs(before) do
    if not after[token] then
      fault("undo removed %s of the model", token)
    end
  end
end)
vim.api.nvim_create_user_command("Modifiable", function()
  if vim.api.nvim_get_current_buf() ~= guard then
    vim.bo.modifiable = not vim.bo.modifiable
  end
end, {})
-- Neovim 0.11 writes beside its screen when a float becomes a window like any other.
for _, lhs in ipairs({ "<C-w>H", "<C-w>T", "<C-w>x" }) do
  vim.keymap.set({ "n", "x" }, lhs, function()
    return vim.api.nvim_win_get_config(0).relative == "" and lhs or "<Ignore>"
  end, { expr = true })
end
-- Not what the model said: then an undo of that would remove it with good reason.
vim.api.nvim_create_user_command("AddLines", function()
  if vim.bo.filetype ~= "lathe" then
    vim.cmd("%Lathe add")
  end
end, {})
-- A buffer beside the chats that nobody types into.
guard = vim.api.nvim_get_current_buf()
vim.bo[guard].undolevels = -1
vim.api.nvim_buf_set_lines(guard, 0, -1, false, { "one", "two", "three", "four" })
vim.api.nvim_win_set_cursor(0, { 3, 2 })
vim.bo[guard].modifiable, vim.bo[guard].bufhidden = false, "hide"
guard_win, guard_cursor = vim.api.nvim_get_current_win(), { 3, 2 }
guard_tick = vim.b[guard].changedtick
vim.api.nvim_create_autocmd("BufEnter", {
  callback = function()
    if vim.api.nvim_get_current_win() == guard_win or vim.api.nvim_get_current_buf() == guard then
      guard_cursor = nil
    end
  end,
})
function look()
  if vim.b[guard].changedtick ~= guard_tick or vim.api.nvim_buf_get_lines(guard, 0, 1, false)[1] ~= "one" then
    fault(
      "the buffer beside was changed: %s",
      vim.inspect({ vim.b[guard].changedtick, guard_tick, vim.api.nvim_buf_get_lines(guard, 0, -1, false) })
    )
  end
  if vim.api.nvim_win_is_valid(guard_win) and vim.api.nvim_win_get_buf(guard_win) == guard then
    local cursor = vim.api.nvim_win_get_cursor(guard_win)
    if guard_cursor and not vim.deep_equal(cursor, guard_cursor) then
      fault("the cursor beside was moved to %s", vim.inspect(cursor))
    end
    guard_cursor = cursor
  end
  for _, chat in ipairs(alive()) do
    local list = {}
    for _, message in ipairs(chat.messages) do
      if message.role == "llm" and message.content ~= "" then
        if whole[message.content] then
          list[#list + 1] = message.content
        else
          local found = false
          for content in pairs(allowed) do
            found = found or vim.startswith(content, message.content)
          end
          if not found and not chat.is_running then
            fault("chat %d: nobody gave %s", chat.id, vim.inspect(message.content))
          end
        end
      end
    end
    if not touched[chat.id] then
      for i, content in ipairs(expected[chat.id] or {}) do
        if list[i] ~= content and not allowed[content] then
          fault("chat %d: %s is lost", chat.id, vim.inspect(content))
          break
        end
      end
    end
    -- What runs is stopped first: that may take some rounds.
    local rounds = (touched[chat.id] or 0) - 1
    touched[chat.id], expected[chat.id] = rounds > 0 and rounds or nil, list
  end
  local messages = vim.api.nvim_exec2("messages", { output = true }).output
  for _, sign in ipairs({
    "stack traceback",
    "E5108",
    "E5113",
    "Error executing",
    "internal error",
    "E315",
    "E340",
    "E685",
  }) do
    if messages:find(sign, 1, true) then
      fault("%s", messages)
      break
    end
  end
  for _, line in ipairs(told) do
    if line:find("internal error", 1, true) then
      fault("%s", line)
    end
  end
  vim.cmd("messages clear")
  told = {}
  -- Go on in a chat.
  local list = alive()
  while #list > 3 do
    table.remove(list, 1):close()
  end
  if #list == 0 then
    list = { new() }
  end
  if vim.bo.filetype ~= "lathe" or below(10) == 0 then
    pcall(vim.cmd, "silent! cclose")
    list[below(#list) + 1]:open()
  end
  while #vim.api.nvim_list_tabpages() > 3 do
    vim.cmd("silent! tabclose")
  end
  while #vim.api.nvim_tabpage_list_wins(0) > 6 do
    vim.cmd("silent! close!")
  end
  return table.concat(faults, "\n")
end
