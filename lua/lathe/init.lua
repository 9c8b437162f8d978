-- The public API. Everything is loaded inside the functions: `require("lathe").setup()` is part of the editor's start.
local M = {}

---Stores and checks options; nothing is loaded, read or run. What is wrong is told once, the rest works.
---@param opts lathe.Opts?
function M.setup(opts)
  local problems = require("lathe.config").setup(opts)
  if problems[1] then
    table.sort(problems)
    local more = #problems > 1 and (" (%d more: `:checkhealth lathe`)"):format(#problems - 1) or ""
    require("lathe.notify").warn("setup: " .. problems[1] .. more .. "\n" .. table.concat(problems, "\n", 2))
  end
end

---@param names any
---@return boolean
local function are_names(names)
  return vim.islist(names) and vim.iter(names):all(function(name)
    return type(name) == "string"
  end)
end

local roles = { user = true, system = true, llm = true }

---@param messages any
---@return boolean
local function are_messages(messages)
  return vim.islist(messages)
    and vim.iter(messages):all(function(message)
      return type(message) == "table" and roles[message.role] and message.content ~= nil
    end)
end

---Opens a chat.
---@param opts lathe.ChatOpts?
---@return lathe.Chat? chat nil when the library is missing; the user has been told
---@return string? message
function M.chat(opts)
  vim.validate("opts", opts, "table", true)
  opts = opts or {}
  vim.validate("opts.tools", opts.tools, are_names, true, "list of names")
  vim.validate("opts.prompt", opts.prompt, "string", true)
  vim.validate("opts.agent", opts.agent, "string", true)
  vim.validate(
    "opts.messages",
    opts.messages,
    are_messages,
    true,
    "list of { role = user, system or llm, content = … }"
  )
  require("lathe.fast_event").refuse("chat()")
  return require("lathe.chat").new(opts)
end

---Hides the last chat, or shows it; opens one when there is none.
function M.toggle()
  if vim.in_fast_event() then
    return require("lathe.fast_event").later(M.toggle)
  end
  local chat = M.last_chat()
  if not chat then
    M.chat()
  elseif chat:is_visible() then
    chat:hide()
  else
    chat:open()
  end
end

---The chat used last.
---@return lathe.Chat?
function M.last_chat()
  if package.loaded["lathe.chat"] then
    return require("lathe.chat").last()
  end
end

---The chat of a buffer.
---@param bufnr integer? default: the current buffer
---@return lathe.Chat?
function M.get_chat(bufnr)
  if package.loaded["lathe.chat"] then
    if bufnr == nil or bufnr == 0 then
      require("lathe.fast_event").refuse("get_chat() without a buffer")
    end
    return require("lathe.chat").get(bufnr)
  end
end

---Puts into the last chat's input what is selected, or a mention of the current buffer. Where you are stays current; a
---chat is opened when there is none.
---@param opts { bufnr: integer?, range: { [1]: integer, [2]: integer }? }? another buffer; lines of it, 1-based
function M.add(opts)
  opts = opts or {}
  vim.validate("opts", opts, "table")
  vim.validate("opts.bufnr", opts.bufnr, "number", true)
  vim.validate("opts.range", opts.range, "table", true)
  require("lathe.fast_event").later(function()
    require("lathe.chat.add_to_input").add(opts)
  end)
end

---A short text about a chat for 'winbar' or 'statusline', with `%` escaped.
---@param bufnr integer? a chat's buffer; default: the current buffer's chat, else the last
---@return string text empty without a chat
function M.statusline(bufnr)
  if not package.loaded["lathe.chat"] then
    return ""
  end
  local chats = require("lathe.chat")
  -- Which buffer is current a fast event does not tell.
  local chat = (bufnr or not vim.in_fast_event()) and chats.get(bufnr) or (not bufnr and chats.last()) or nil
  local ok, text = pcall(require("lathe.chat.draw.statusline").text, chat)
  return ok and text or ""
end

---The remembered approvals; `approval:remove()` takes one back.
---@return lathe.Approval[]
---@return string? message why some are missing
function M.approvals()
  require("lathe.fast_event").refuse("approvals()")
  return require("lathe.chat.ask.approvals").list()
end

---Goes on with a saved chat; without one, lets the user choose.
---@param id string? of `:Lathe resume`, or the path of a file
function M.resume(id)
  vim.validate("id", id, "string", true)
  require("lathe.fast_event").later(function()
    local resume = require("lathe.chat.resume")
    if id then
      resume.open(id)
    else
      resume.choose()
    end
  end)
end

---Explains what the permission rules say to a call, in the folder and for the agent of the current chat.
---@param tool string a tool, or the key of a rule such as `bash`
---@param value string? what it is called with: a command, a path
---@param callback? fun(lines: string[]?, outcome: string) default: it is printed. `outcome`: "allow", "ask", "deny" or
---  "none"; lines nil: what went wrong
function M.why(tool, value, callback)
  vim.validate("tool", tool, "string")
  vim.validate("value", value, "string", true)
  vim.validate("callback", callback, "callable", true)
  require("lathe.fast_event").later(function()
    local why = require("lathe.chat.ask.why")
    require("lathe.chat").need() -- before the first chat the library does not answer yet
    why.explain(tool, value, M.get_chat(0) or M.last_chat(), callback or why.print)
  end)
end

---Makes a tool known, as if it were in `interactions.chat.tools`.
---@param name string
---@param entry lathe.ToolEntry
function M.register_tool(name, entry)
  vim.validate("name", name, "string")
  vim.validate("entry", entry, "table")
  require("lathe.fast_event").later(function()
    require("lathe.tools.sources.registered_tools").register(name, entry)
  end)
end

---Runs a tool without a model, with everything that belongs to a call: schema, approval, output functions.
---@param name string
---@param args table? its arguments
---@param opts table? takes nothing; an option that is not known is an error
---@param callback fun(result: lathe.RunResult)? called once
function M.run_tool(name, args, opts, callback)
  vim.validate("name", name, "string")
  vim.validate("args", args, "table", true)
  vim.validate("opts", opts, "table", true)
  for key in pairs(opts or {}) do
    error(("opts.%s: unknown option"):format(tostring(key)), 2)
  end
  vim.validate("callback", callback, "callable", true)
  require("lathe.fast_event").later(function()
    require("lathe.chat.run_tool").start(name, args, callback)
  end)
end

-- Native servers -----------------------------------------------------------------------------------------------------

for _, name in ipairs({ "add_server", "add_tool", "add_resource", "add_resource_template", "add_prompt" }) do
  ---As in `lathe.native`.
  M[name] = function(...)
    -- What these load needs the API once; what has failed to load would never load again.
    if not (package.loaded["lathe.native"] or package.loaded["lathe.chat"]) then
      require("lathe.fast_event").refuse(name .. "() for the first time")
    end
    return require("lathe.native")[name](...)
  end
end

return M
