-- Command cmds: from an entry of `cmds` to what the core runs. Quoting, processes and output are the core's.
local M = {}

local adapters = require("lathe.adapters")
local core = require("lathe.core")

---The text of a command: a list of words, a string, or either in `{ cmd, flag }`.
---@param entry any an entry of `cmds`
---@return string? text
---@return string? flag what `chat.tool_registry.flags` records its success under
---@return string? message what is wrong with the entry
function M.read(entry)
  local words, flag = entry, nil
  if type(entry) == "table" and entry.cmd ~= nil then
    words, flag = entry.cmd, entry.flag
    flag = flag ~= vim.NIL and flag or nil -- the model's null
  end
  if type(words) == "table" then
    for i = 1, #words do
      if type(words[i]) ~= "string" and type(words[i]) ~= "number" then
        return nil, nil, ("word %d is %s, not a string"):format(i, vim.inspect(words[i]))
      end
    end
    words = table.concat(words, " ")
  end
  if type(words) ~= "string" then
    return nil, nil, "expected a function, a string, a list of words or { cmd = …, flag = … }, got " .. type(entry)
  elseif not words:find("%S") then
    return nil, nil, "the command is empty"
  end
  return words, flag
end

---@param value any
---@return string?
local function word(value)
  if type(value) == "string" then
    return value
  elseif type(value) == "number" or type(value) == "boolean" then
    return tostring(value)
  end
end

---Whether a table is the model's: the arguments of its call, or a part of them.
---@param value table
---@param args any
---@param seen table<table, true>? a tool may have put anything there
---@return boolean
local function is_within(value, args, seen)
  seen = seen or {}
  if type(args) ~= "table" or seen[args] then
    return false
  end
  seen[args] = true
  for _, item in pairs(args) do
    if is_within(value, item, seen) then
      return true
    end
  end
  return value == args
end

---@param value any
---@param args table?
---@return string|string[]|{ raw: string }|nil value nil: it must not stand for anything
local function placeholder(value, args)
  if type(value) ~= "table" then
    return word(value)
  elseif value.raw ~= nil then
    -- Only the tool's author may say what is shell syntax.
    if is_within(value, args) then
      return nil
    end
    local raw = word(value.raw)
    return raw and { raw = raw }
  elseif not vim.islist(value) then
    return nil
  end
  local words = {}
  for i, item in ipairs(value) do
    words[i] = word(item)
  end
  return #words == #value and words or nil
end

---What placeholders stand for, as the core takes it.
---@param env table? what the tool's `env` returned
---@param args table? the model's
---@return table? values
---@return string? message
function M.values(env, args)
  local values = {}
  for name, value in pairs(env or {}) do
    local given = placeholder(value, args)
    if type(name) ~= "string" or given == nil then
      local what = "env: %s must be a string, a list of strings or { raw = string }, got %s"
      return nil, what:format(tostring(name), vim.inspect(value))
    end
    values[name] = given
  end
  return values
end

---Starts a command. Its end comes as `store_text`.
---@param chat lathe.Chat
---@param call lathe.Call
---@param cmd integer
---@param entry any
---@return string? message why nothing was run
function M.start(chat, call, cmd, entry)
  local text, flag, message = M.read(entry)
  call.flag = flag
  local values
  if text then
    values, message = M.values(call.env, call.args)
  end
  if not text or not values then
    return ('cmd %d of the tool "%s": %s'):format(cmd, call.name, message)
  end
  local settings = chat.config.tools.opts
  local limits = chat.limits
  return core.lib.run_command({
    chat = chat.id,
    call = call.id,
    cmd = cmd,
    text = text,
    env = values,
    shell = settings.shell,
    -- Empty when it was deleted: then the core says so.
    cwd = chat.cwd,
    without = adapters.key_variables(chat.adapter, settings.keep_env),
    keep = settings.keep_env,
    background = call.tool.opts.background == true,
    max_lines = limits.max_lines,
    max_bytes = limits.max_bytes,
    encoding = limits.encoding,
  })
end

---The data of a command: its lines without empty ones at the end. `tostring` of it is the whole text.
---@param text string
---@return string[]
function M.lines(text)
  local lines = vim.split(text, "\n", { plain = true })
  while lines[1] and lines[#lines] == "" do
    lines[#lines] = nil
  end
  return setmetatable(lines, {
    __tostring = function()
      return text
    end,
  })
end

return M
