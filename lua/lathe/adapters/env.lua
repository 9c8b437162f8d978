-- The values of an adapter's `env`: keys, addresses. They are found at first use, kept here and nowhere else, and never
-- written to a log or a message.
local M = {}

-- By adapter (a chat's own copy): gone with it, and not part of it, so that looking at an adapter shows no key.
local found = setmetatable({}, { __mode = "k" }) ---@type table<lathe.Adapter, table<string, string>>

-- How long a `cmd:` may take.
local COMMAND_LIMIT_MS = 30000

-- How long its output is read after its end, when something it left holds the pipe.
local SETTLE_MS = 100

---Runs `cmd:…`; its output without blanks around it is the value. It ends with the shell: what that leaves in the
---background, such as an agent, may hold the pipe for ever, so `vim.system` would never end.
---@param command string
---@param done fun(value: string?, message: string?)
local function run(command, done)
  local stdout, timer = assert(vim.uv.new_pipe()), assert(vim.uv.new_timer())
  local pieces, code = {}, nil ---@type string[], integer?
  local over = false
  local function finish()
    if over then
      return
    end
    over = true
    stdout:close()
    timer:close()
    vim.schedule(function()
      local value = vim.trim(table.concat(pieces))
      if code ~= 0 or value == "" then
        -- What it printed may be half a key: only its code is told.
        done(nil, code and ("the command gave no value (exit code %d)"):format(code) or "the command took too long")
      else
        done(value)
      end
    end)
  end
  local is_read = false
  local process
  process = vim.uv.spawn(
    "sh",
    { args = { "-c", command }, stdio = { nil, stdout, nil }, detached = true },
    vim.schedule_wrap(function(exit_code, signal)
      process:close()
      code = signal == 0 and exit_code or 128 + signal
      if is_read then
        finish()
      elseif not over then
        timer:start(SETTLE_MS, 0, finish)
      end
    end)
  )
  if not process then
    stdout:close()
    timer:close()
    return done(nil, "the command could not be started")
  end
  local pid = process:get_pid()
  timer:start(COMMAND_LIMIT_MS, 0, function()
    vim.uv.kill(-pid, "sigkill") -- the whole group: the shell may wait for another program
    finish()
  end)
  stdout:read_start(function(_, data)
    pieces[#pieces + 1] = data
    if not data then
      is_read = true
      if code then
        finish()
      end
    end
  end)
end

---@param adapter lathe.Adapter
---@param path string such as `schema.model.default`
---@return string?
local function at_path(adapter, path)
  local value = adapter ---@type any
  for part in path:gmatch("[^.]+") do
    value = type(value) == "table" and value[part] or nil
  end
  return type(value) == "string" and value or nil
end

---Finds one value.
---@param adapter lathe.Adapter
---@param name string
---@param done fun(value: string?, message: string?)
local function find(adapter, name, done)
  local given = adapter.env and adapter.env[name]
  local where = ("adapters.http.%s.env.%s"):format(adapter.name, name)
  if type(given) == "function" then
    local ok, value = pcall(given, adapter)
    if not ok or (value ~= nil and type(value) ~= "string") then
      return done(nil, where .. ": the function " .. (ok and "must return a string" or "failed"))
    end
    given = value or ""
  elseif type(given) == "string" and vim.startswith(given, "cmd:") then
    return run(given:sub(5), function(value, message)
      done(value, message and where .. ": " .. message)
    end)
  elseif type(given) == "string" and given:find("^[A-Z0-9_]+$") then
    local value = vim.env[given]
    if not value or value == "" then
      return done(nil, ("No key for %s: set %s or %s"):format(adapter.formatted_name, given, where))
    end
    given = value
  elseif type(given) == "string" and vim.startswith(given, "schema.") then
    given = at_path(adapter, given)
  end
  if type(given) ~= "string" then
    return done(nil, where .. ": expected a string, a function or a command, got " .. type(given))
  end
  done(vim.trim(given))
end

---The names of the values that a template uses.
---@param template string
---@param names table<string, true>
local function collect(template, names)
  for name in template:gmatch("%${([%w_]+)}") do
    names[name] = true
  end
end

---Finds what the templates use, one after another.
---@param adapter lathe.Adapter
---@param templates string[]
---@param given table<string, string> values that hold for this request only
---@param done fun(values: table<string, string>?, message: string?)
function M.resolve(adapter, templates, given, done)
  local values = found[adapter] or {}
  found[adapter] = values
  local names = {}
  for _, template in ipairs(templates) do
    collect(template, names)
  end
  local missing = {}
  for name in pairs(names) do
    if given[name] == nil and values[name] == nil then
      missing[#missing + 1] = name
    end
  end
  table.sort(missing)
  local function next_one(at)
    local name = missing[at]
    if not name then
      return done(vim.tbl_extend("force", values, given))
    end
    find(adapter, name, function(value, message)
      if not value then
        return done(nil, message)
      end
      values[name] = value
      next_one(at + 1)
    end)
  end
  next_one(1)
end

---@param template string
---@param values table<string, string>
---@return string
function M.fill(template, values)
  return (template:gsub("%${([%w_]+)}", function(name)
    return values[name]
  end))
end

return M
