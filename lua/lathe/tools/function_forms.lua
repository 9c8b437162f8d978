-- The forms that functions of tools have had over the years, and what each of them is called with. A function's own
-- parameters tell its form; where they leave two readings open, what it gets answers to both.
local M = {}

-- The most parameters that a function has had in any form, where one that takes more could fail after a cmd has run.
local most = { cmd = 4, success = 5, error = 5 }

-- What authors call the parameters that only one of the forms has, without underscores.
local agents = { agent = true, agents = true, tools = true, orchestrator = true, executor = true, exec = true }
local lists = { stdout = true, stderr = true, output = true, out = true, data = true, result = true, results = true }
local commands = { cmd = true, command = true, action = true }
local inputs = { input = true, previous = true, prev = true }

---What is known of a function's parameters.
---@class lathe.FunctionShape
---@field fn function what is called
---@field is_open boolean it takes any number, or nobody knows how many
---@field count integer
---@field names string[] empty: they are not known
---@field inner lathe.FunctionShape? of the function that this one wraps

local shapes = setmetatable({}, { __mode = "k" }) ---@type table<any, lathe.FunctionShape>
local wrapped = debug.getinfo(vim.schedule_wrap(function() end), "S")

-- Callable ------------------------------------------------------------------------------------------------------------

---The function behind a value that can be called.
---@param value any
---@return function? fn
---@return boolean? is_object it is a table with `__call`
local function callee(value)
  if type(value) == "function" then
    return value
  end
  local meta = type(value) == "table" and getmetatable(value) or nil
  local call = type(meta) == "table" and rawget(meta, "__call") or nil
  if type(call) == "function" then
    return call, true
  end
end

---Whether a value is a function, or a table that can be called like one.
---@param value any
---@return boolean
function M.is_callable(value)
  return callee(value) ~= nil
end

-- Shapes --------------------------------------------------------------------------------------------------------------

---The one function among what a function closes over.
---@param fn function
---@return function?
local function only_inner(fn)
  local inner
  for i = 1, 60 do
    local name, value = debug.getupvalue(fn, i)
    if not name then
      break
    elseif type(value) == "function" then
      if inner and inner ~= value then
        return nil
      end
      inner = value
    end
  end
  return inner
end

---@param value any
---@param depth integer how many wrappers were looked through
---@return lathe.FunctionShape
local function read(value, depth)
  local fn, is_object = callee(value)
  if not fn then
    return { fn = value, is_open = true, count = 0, names = {} }
  end
  local info = debug.getinfo(fn, "uS")
  if info.source == wrapped.source and info.linedefined == wrapped.linedefined and depth < 4 then
    -- `vim.schedule_wrap`: what it puts off is called at once, as nothing here is called in a fast event.
    local inner = only_inner(fn)
    if inner then
      return read(inner, depth + 1)
    end
  end
  local shape = {
    fn = is_object and function(...)
      return fn(value, ...)
    end or fn,
    is_open = info.isvararg ~= false or info.nparams == nil,
    count = info.nparams or 0,
    names = {},
  }
  for i = 1, shape.count do
    local ok, name = pcall(debug.getlocal, fn, i)
    shape.names[i] = ok and type(name) == "string" and name:gsub("^_+", "") or nil
  end
  if is_object and shape.count > 0 then
    shape.count = shape.count - 1
    table.remove(shape.names, 1)
  end
  local inner = shape.is_open and depth < 4 and only_inner(fn)
  shape.inner = inner and inner ~= fn and read(inner, depth + 1) or nil
  return shape
end

---@param value any
---@return lathe.FunctionShape
local function shape_of(value)
  local shape = shapes[value]
  if not shape then
    shape = read(value, 0)
    shapes[value] = shape
  end
  return shape
end

---What is wrong with the parameters of a function.
---@param kind string
---@param value any
---@return string? message nil: it has a form that is known
function M.misfit(kind, value)
  local limit, shape = most[kind], shape_of(value)
  if limit and not shape.is_open and shape.count > limit then
    return ("takes %d parameters; the forms that are known take %d at most"):format(shape.count, limit)
  end
end

-- What functions get --------------------------------------------------------------------------------------------------

---`meta`, which is the tool system as well for those who look for that there.
---@param view lathe.Tools
---@param cmd any
---@param opts table?
---@return lathe.Meta
function M.meta(view, cmd, opts)
  return setmetatable({ tools = view, cmd = cmd, opts = opts }, { __index = view, __newindex = view })
end

---The list of outputs, which is the tool system as well.
---@param list any[]
---@param view lathe.Tools
---@return any[]
local function list_and_view(list, view)
  return setmetatable(vim.list_slice(list), { __index = view, __newindex = view })
end

---`meta`, which is the command as well.
---@param meta lathe.Meta
---@param command any
---@return table
local function meta_and_command(meta, command)
  local view = meta.tools
  return setmetatable({ tools = view, cmd = meta.cmd, opts = meta.opts }, {
    __index = function(_, key)
      local value = view[key]
      if value == nil and type(command) == "table" then
        value = command[key]
      end
      return value
    end,
    __newindex = view,
  })
end

local Reason = {}

function Reason.__tostring(self)
  return self.reason or ""
end

function Reason.__concat(left, right)
  return tostring(left) .. tostring(right)
end

---How an output function reads its second and third parameter.
---@param shape lathe.FunctionShape
---@return "newest"|"older"|"either"
local function reading(shape)
  local second, third = shape.names[2], shape.names[3]
  if shape.is_open then
    return "either"
  elseif shape.count > 3 then
    return "older"
  elseif shape.count < 2 or lists[second] or third == "meta" then
    return "newest"
  elseif agents[second] or commands[third] then
    return "older"
  end
  return "either"
end

---Whether a function needs the tool system in the place of the list, although there is nothing in the list.
---@param shape lathe.FunctionShape
---@return boolean
local function wraps_older(shape)
  local inner = shape.inner
  return inner ~= nil and (reading(inner) == "older" or wraps_older(inner))
end

---@param list any
---@return any[]
local function listed(list)
  return type(list) == "table" and list or {}
end

---Calls `output.success` or `output.error`.
---@param kind "success"|"error"
---@param value any
---@param tool lathe.Tool
---@param meta lathe.Meta
---@param args any of the call: what older forms got in place of a function
---@return any
function M.call_output(kind, value, tool, meta, args)
  local shape, view = shape_of(value), meta.tools
  local list = listed(kind == "success" and view.stdout or view.stderr)
  local command = meta.cmd
  if M.is_callable(command) then
    command = args
  end
  local how = reading(shape)
  if how == "older" then
    return shape.fn(tool, view, command, list, listed(view.stdout))
  end
  local given = list[1] ~= nil and list or nil
  if how == "newest" then
    return shape.fn(tool, given, meta)
  end
  if given or wraps_older(shape) then
    given = list_and_view(list, view)
  end
  return shape.fn(tool, given, meta_and_command(meta, command), list, listed(view.stdout))
end

---Calls `output.rejected` or `output.cancelled`.
---@param value any
---@param tool lathe.Tool
---@param meta lathe.Meta
---@return any
function M.call_refusal(value, tool, meta)
  local reason = setmetatable({ reason = meta.opts and meta.opts.reason }, Reason)
  return shape_of(value).fn(tool, meta, meta.cmd, reason)
end

---Calls any other function of a tool: older forms have the tool system where today's have `meta`.
---@param value any
---@param tool lathe.Tool
---@param meta lathe.Meta
---@param ... any what older forms got besides
---@return any
function M.call(value, tool, meta, ...)
  return shape_of(value).fn(tool, meta, ...)
end

---Calls a function of `cmds`.
---@param value any
---@param view lathe.Tools
---@param args table
---@param input table? the result of the cmd before
---@param opts lathe.CmdOpts
---@return any
function M.call_cmd(value, view, args, input, opts)
  local shape = shape_of(value)
  if not shape.is_open and (shape.count > 3 or (shape.count == 3 and inputs[shape.names[3]])) then
    return shape.fn(view, args, input, opts.output_cb)
  end
  opts.input = input
  if input and shape.names[3] ~= "opts" then
    -- For those who take the options for the result before.
    opts.status, opts.data = input.status, input.data
  end
  return shape.fn(view, args, opts, opts.output_cb)
end

return M
