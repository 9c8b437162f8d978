-- Prompts of native servers: finding one, checking its arguments, and the messages it makes.
local M = {}

local config = require("lathe.config")
local errors = require("lathe.native.error")
local notify = require("lathe.notify")
local readable = require("lathe.readable").text
local handler_request = require("lathe.native.handler_request")
local handler_result = require("lathe.native.handler_result")
local handler_call = require("lathe.native.handler_call")
local store = require("lathe.native.store")

local roles = { user = true, assistant = true, system = true }

---The prompts of servers that are enabled.
---@return { server: lathe.native.Server, def: lathe.native.PromptDef }[]
function M.all()
  local list = {}
  for _, server in ipairs(store.all()) do
    for _, def in ipairs(server.capabilities.prompts) do
      if store.is_enabled(server, "prompts", def.name) then
        list[#list + 1] = { server = server, def = def }
      end
    end
  end
  return list
end

---What a prompt may be called in a chat: `server:prompt`, and `prompt` where only one server has it.
---@return string[]
function M.names()
  local list, count = {}, {}
  for _, one in ipairs(M.all()) do
    count[one.def.name] = (count[one.def.name] or 0) + 1
  end
  for _, one in ipairs(M.all()) do
    list[#list + 1] = one.server.name .. ":" .. one.def.name
    if count[one.def.name] == 1 then
      list[#list + 1] = one.def.name
    end
  end
  return list
end

---@param server_name string? nil: `name` may be `server:prompt` or a prompt that only one server has
---@param name string
---@return { server: lathe.native.Server, def: lathe.native.PromptDef }?
---@return lathe.native.Error?
function M.find(server_name, name)
  local server = server_name and store.get(server_name)
  if server_name and server and server.status ~= "connected" then
    return nil, errors.new("SERVER_DISABLED", ("the server %q is disabled"):format(server_name))
  end
  local short = {}
  for _, one in ipairs(M.all()) do
    if server_name then
      if one.server.name == server_name and one.def.name == name then
        return one
      end
    elseif name == one.server.name .. ":" .. one.def.name then
      return one
    elseif name == one.def.name then
      short[#short + 1] = one
    end
  end
  if short[1] and not short[2] then
    return short[1]
  elseif short[1] then
    local text = "several servers have the prompt %s: name one, as in /mcp:%s:%s"
    return nil, errors.new("NOT_FOUND", text:format(name, short[1].server.name, name))
  end
  return nil, errors.new("NOT_FOUND", ("there is no prompt %s; %s"):format(name, errors.near(M.names(), name)))
end

---The arguments that a prompt takes; a function that fails is told, and then there are none.
---@param def lathe.native.PromptDef
---@return lathe.native.PromptArg[]
function M.arguments(def)
  local given = def.arguments
  if type(given) == "function" then
    local ok, list = pcall(given, def)
    if not ok then
      notify.error(("arguments of the prompt %q failed: %s"):format(def.name, readable(list)))
    end
    given = ok and list or nil
  end
  return vim.tbl_filter(function(argument)
    return type(argument) == "table" and type(argument.name) == "string"
  end, type(given) == "table" and vim.islist(given) and given or {})
end

---Fills in defaults and looks for what is missing.
---@param def lathe.native.PromptDef
---@param given table<string, any>
---@return table<string, string>? args
---@return lathe.native.Error?
local function check(def, given)
  local args = {}
  for name, value in pairs(given) do
    args[name] = type(value) == "string" and value or tostring(value)
  end
  for _, argument in ipairs(M.arguments(def)) do
    local name = argument.name
    args[name] = args[name] or argument.default
    if argument.required and (args[name] == nil or args[name] == "") then
      return nil, errors.new("INVALID_ARGUMENTS", ("/%s: required, and missing"):format(name))
    elseif args[name] ~= nil and argument.enum and not vim.list_contains(argument.enum, args[name]) then
      local text = "/%s: expected one of %s, got %q"
      return nil, errors.new("INVALID_ARGUMENTS", text:format(name, table.concat(argument.enum, ", "), args[name]))
    end
  end
  return args
end

---@param message any
---@return boolean
local function is_message(message)
  return type(message) == "table" and roles[message.role] and type(message.content) == "table"
end

---Makes the messages of a prompt.
---@param server_name string?
---@param name string
---@param args table<string, any>
---@param opts { chat: lathe.Chat?, caller: any, timeout: integer? }
---@param done fun(outcome: lathe.native.Outcome) later, on the main loop; items are `{ role, content }`
---@return fun() cancel
function M.get(server_name, name, args, opts, done)
  local found, err = M.find(server_name, name)
  local params
  if found then
    params, err = check(found.def, args)
  end
  if not found or not params then
    vim.schedule(function()
      done(handler_result.error(err.code, err.message))
    end)
    return function() end
  end
  local whose = ("the prompt %q of the server %q"):format(found.def.name, found.server.name)
  return handler_call.timed(
    {
      kind = "prompt",
      whose = whose,
      server = found.server,
      handler = found.def.handler,
      fields = { params = params, prompt = found.def },
      caller = handler_request.caller(found.server, { chat = opts.chat, caller = opts.caller, auto_approve = true }),
    },
    opts.timeout or config.get().native.timeout,
    opts.chat,
    function(outcome)
      if outcome.code == "OK" then
        local good = {}
        for _, message in ipairs(outcome.items) do
          if is_message(message) then
            good[#good + 1] = message
          elseif type(message) == "table" and message.type == "text" then -- a string was returned
            good[#good + 1] = { role = "user", content = message }
          end
        end
        if not good[1] and outcome.items[1] ~= nil then
          outcome = handler_result.error("INVALID_RESULT", handler_result.unusable(whose, "it holds no message"))
        end
        outcome.items = good[1] and good or outcome.items
      end
      done(outcome)
    end
  )
end

return M
