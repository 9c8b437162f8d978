-- `:Lathe <subcommand>` and the `<Plug>` maps. What an action does with a chat is in `chat/actions.lua`.
local M = {}

local actions = require("lathe.chat.actions")
local lathe = require("lathe")
local notify = require("lathe.notify")

---@return lathe.Chat?
local function current()
  return lathe.get_chat(0) or lathe.last_chat()
end

---A hidden chat in which a tool runs (`:Lathe call`), for what ends one.
---@return lathe.Chat?
local function hidden_run()
  return package.loaded["lathe.chat"] and require("lathe.chat").running() or nil
end

-- What only makes sense where the user sees it: a question is never answered from another buffer.
local only_here = {
  always_accept = true,
  accept = true,
  reject = true,
  cancel = true,
  view_all = true,
  yank_code = true,
  next_heading = true,
  prev_heading = true,
}

---Does what a key stands for.
---@param action string
---@param chat lathe.Chat? default: the current buffer's, else the last
function M.act(action, chat)
  if action == "chat" then
    lathe.chat()
  elseif action == "add" then
    lathe.add()
  elseif action == "toggle" then
    lathe.toggle()
  else
    if only_here[action] and not chat then
      chat = lathe.get_chat(0)
      if not chat then
        return notify.info(("%s works in the chat's own buffer"):format(action))
      end
    end
    chat = chat or current() or ((action == "stop" or action == "skip") and hidden_run()) or nil
    if not chat then
      return notify.info("there is no chat; `:Lathe chat` opens one")
    end
    actions[action](chat)
  end
end

---@param words string[]
local function open_chat(words)
  local opts, text = {}, {}
  for _, word in ipairs(words) do
    local key, value = word:match("^(%l+)=(.+)$")
    if #text == 0 and (key == "adapter" or key == "model" or key == "agent") then
      opts[key] = value
    else
      text[#text + 1] = word
    end
  end
  opts.prompt = text[1] and table.concat(text, " ") or nil
  lathe.chat(opts)
end

---@param words string[]
local function manage_tools(words)
  local chat = current()
  if #words == 0 then
    return require("lathe.chat.draw.list_window").show(require("lathe.tools.overview").lines(chat), "Tools")
  end
  if not chat then
    return notify.info("there is no chat; `:Lathe chat` opens one")
  end
  for _, name in ipairs(words) do
    local fault = chat.tool_registry:use(name)
    if fault then
      notify.fault(fault, "warn")
    end
  end
end

---@param words string[]
---@param text string what follows the subcommand
local function call_tool(words, text)
  local name = words[1]
  if not name then
    return notify.info("usage: :Lathe call <tool> [arguments as JSON]")
  end
  local json = vim.trim(text:sub(#name + 1))
  local ok, args = pcall(vim.json.decode, json == "" and "{}" or json)
  if not ok or type(args) ~= "table" then
    return notify.error("the arguments are not a JSON object: " .. json)
  end
  lathe.run_tool(name, args, {}, function(result)
    notify.show(("%s: %s\n%s"):format(name, result.status, result.display or result.content))
  end)
end

---@param words string[]
local function set_auto(words)
  local wanted = words[1]
  if #words > 1 or (wanted and wanted ~= "on" and wanted ~= "off") then
    return notify.info("usage: :Lathe auto [on|off]")
  end
  local chat = current()
  if not chat then
    return notify.info("there is no chat; `:Lathe chat` opens one")
  end
  if wanted then
    chat:set_auto(wanted == "on")
  else
    M.act("auto", chat)
  end
end

---@param what "model"|"adapter"
---@param words string[]
local function choose(what, words)
  local chat = current()
  if #words > 1 then
    return notify.info(("usage: :Lathe %s [name]"):format(what))
  elseif not chat then
    return notify.info("there is no chat; `:Lathe chat` opens one")
  end
  require("lathe.chat.switch_model")[what](chat, words[1])
end

---@param words string[]
---@param text string what follows the subcommand
local function why(words, text)
  local name = words[1]
  if not name then
    return notify.info("usage: :Lathe why <tool> [value], such as `:Lathe why bash git push`")
  end
  local value = vim.trim(text:sub(#name + 1))
  -- Quotes around the whole are the user's habit, not a part of the command.
  value = value:match("^'(.*)'$") or value:match('^"(.*)"$') or value
  lathe.why(name, value ~= "" and value or nil)
end

local function open_log()
  if not require("lathe.chat.draw.chat_window").after_cmdwin(open_log) then
    -- The newest lines are at the end.
    vim.cmd("tabedit + " .. vim.fn.fnameescape(require("lathe.log").path))
  end
end

---@type table<string, fun(words: string[], text: string, range: integer[]?)>
local subcommands = {
  add = function(_, _, range)
    lathe.add({ range = range })
  end,
  why = why,
  chat = open_chat,
  toggle = lathe.toggle,
  resume = function(words, text)
    lathe.resume(words[1] and vim.trim(text) or nil)
  end,
  tools = manage_tools,
  call = call_tool,
  auto = set_auto,
  model = function(words)
    choose("model", words)
  end,
  adapter = function(words)
    choose("adapter", words)
  end,
  approvals = function()
    require("lathe.chat.ask.approvals").select()
  end,
  log = open_log,
}
for name in pairs(actions) do
  subcommands[name] = subcommands[name] or function()
    M.act(name)
  end
end

---Runs `:Lathe`.
---@param args vim.api.keyset.create_user_command.command_args
function M.run(args)
  local name = args.fargs[1] or "toggle"
  local subcommand = subcommands[name]
  if not subcommand then
    return notify.error(("there is no subcommand %s; see `:help :Lathe`"):format(name))
  end
  local range = args.range > 0 and { args.line1, args.line2 } or nil
  if range and name ~= "add" then
    return notify.error(("no range is allowed: `:Lathe %s`; `:'<,'>Lathe add` puts lines into the chat"):format(name))
  end
  subcommand(vim.list_slice(args.fargs, 2), vim.trim(args.args:sub(#name + 1)), range)
end

---@return string[] names of the subcommands, sorted
function M.names()
  local names = vim.tbl_keys(subcommands)
  table.sort(names)
  return names
end

---Completes `:Lathe`.
---@param lead string the word before the cursor
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(line:gsub("^.-Lathe%s*", ""), "%s+")
  local candidates = {}
  if #words <= 1 then
    candidates = M.names()
  elseif words[1] == "tools" or ((words[1] == "call" or words[1] == "why") and #words == 2) then
    candidates = require("lathe.tools").names(true, current())
  elseif words[1] == "auto" and #words == 2 then
    candidates = { "off", "on" }
  elseif words[1] == "resume" and #words == 2 then
    candidates = require("lathe.chat.resume").ids()
  elseif words[1] == "adapter" and #words == 2 then
    candidates = require("lathe.adapters").names()
  elseif words[1] == "chat" then
    for _, name in ipairs(require("lathe.adapters").names()) do
      candidates[#candidates + 1] = "adapter=" .. name
    end
    for name in pairs(require("lathe.config").get().agent) do
      candidates[#candidates + 1] = "agent=" .. name
    end
    table.sort(candidates)
  end
  return vim.tbl_filter(function(candidate)
    return vim.startswith(candidate, lead)
  end, candidates)
end

return M
