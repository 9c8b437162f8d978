-- `codecompanion.http`, `.adapters` and `.schema`: one request to a model, which goes through a chat of its own that nobody
-- sees. Answers have the form that OpenAI's have, whatever the provider's is.
local M = {}

local adapters = require("lathe.adapters")
local readable = require("lathe.readable").text

-- Adapters ------------------------------------------------------------------------------------------------------------

---What an answer says.
---@param data any
---@return { status: "success"|"error", output: { role: string, content: string } }?
local function chat_output(_, data)
  local body = type(data) == "table" and data.body or data
  local ok, answer = pcall(vim.json.decode, type(body) == "string" and body or "")
  local message = ok and type(answer) == "table" and vim.tbl_get(answer, "choices", 1, "message")
  if not message then
    return nil
  end
  return { status = "success", output = { role = message.role, content = message.content } }
end

---@param data any
---@return { status: "success"|"error", output: string }?
local function inline_output(_, data)
  local result = chat_output(nil, data)
  return result and { status = result.status, output = result.output.content }
end

local Adapter = {}

---@param key any
---@return any
function Adapter:__index(key)
  if Adapter[key] ~= nil then
    return Adapter[key]
  end
  return rawget(self, "_adapter")[key]
end

---Takes settings over.
---@param settings table?
---@return table
function Adapter:map_schema_to_params(settings)
  local model = settings and settings.model
  if type(model) == "string" then
    rawget(self, "_adapter").model = model
  end
  return self
end

---Roles stay as they are: they are mapped when the request is made.
---@param messages table[]
---@return table[]
function Adapter.map_roles(_, messages)
  return messages
end

function Adapter:get_env_vars()
  return self
end

---An adapter as other plugins hold it.
---@param spec any a name, an adapter, or nil for the first that has a key
---@return table? adapter
function M.resolve(spec)
  if type(spec) == "table" and rawget(spec, "_adapter") then
    return spec
  end
  local adapter, message = adapters.resolve(spec)
  if not adapter then
    require("lathe.log").warn("adapters.resolve: " .. tostring(message))
    return nil
  end
  local handlers = { chat_output = chat_output, inline_output = inline_output }
  handlers.response = { parse_chat = chat_output, parse_inline = inline_output }
  return setmetatable({
    _adapter = adapter,
    type = "http",
    handlers = setmetatable(handlers, { __index = adapter.handlers }),
    opts = adapter.opts or {},
    roles = { llm = "assistant", user = "user" },
    schema = adapter.schema or {},
    features = { text = true, tokens = true },
  }, Adapter)
end

local handlers = {
  parse_chat = chat_output,
  chat_output = chat_output,
  parse_inline = inline_output,
  inline_output = inline_output,
  setup = function()
    return true
  end,
}

---The module `codecompanion.adapters`.
M.adapters = {
  extend = adapters.extend,
  resolve = M.resolve,
  ---@param adapter table
  ---@param name string
  ---@return function?
  get_handler = function(adapter, name)
    return handlers[name]
  end,
  ---@param adapter table
  ---@param name string
  ---@param ... any
  ---@return any
  call_handler = function(adapter, name, ...)
    local handler = handlers[name]
    return handler and handler(adapter, ...)
  end,
  ---@param adapter any
  ---@return boolean
  resolved = function(adapter)
    return type(adapter) == "table" and rawget(adapter, "_adapter") ~= nil
  end,
  ---@param adapter table
  ---@return table
  make_safe = function(adapter)
    return { name = adapter.name, formatted_name = adapter.formatted_name, model = adapter.model, opts = adapter.opts }
  end,
}

-- Schemas of adapters -------------------------------------------------------------------------------------------------

---@param given table an adapter or its schema
---@return table
local function schema_of(given)
  return type(given.schema) == "table" and given.schema or given
end

---The module `codecompanion.schema`.
M.schema = {
  ---@param given table
  ---@param values table?
  ---@return table
  get_default = function(given, values)
    local result = {}
    for name, field in pairs(schema_of(given)) do
      local value = values and values[name]
      if value == nil and type(field) == "table" then
        value = field.default
      end
      if type(value) == "function" then
        local ok, answer = pcall(value, given)
        value = ok and answer or nil
      end
      result[name] = value
    end
    return result
  end,
  ---@param given table
  ---@return string[]
  get_ordered_keys = function(given)
    local schema = schema_of(given)
    local keys = vim.tbl_keys(schema)
    table.sort(keys, function(a, b)
      local one = type(schema[a]) == "table" and schema[a].order or math.huge
      local other = type(schema[b]) == "table" and schema[b].order or math.huge
      return one == other and a < b or one < other
    end)
    return keys
  end,
}

-- Requests ------------------------------------------------------------------------------------------------------------

local roles = { assistant = "llm", llm = "llm", model = "llm", system = "system", user = "user" }

---@param payload any
---@return { role: string, content: string }[] messages
---@return string? prompt what the user says last
local function read(payload)
  local list = {}
  for _, message in ipairs(type(payload) == "table" and (payload.messages or payload) or {}) do
    local role = type(message) == "table" and roles[message.role]
    if role and type(message.content) == "string" then
      list[#list + 1] = { role = role, content = message.content }
    end
  end
  local prompt
  if list[1] and list[#list].role == "user" then
    prompt = table.remove(list).content
  end
  return list, prompt
end

---@param text string
---@return { status: integer, body: string }
local function answer_of(text)
  local message = { role = "assistant", content = text }
  return { status = 200, body = vim.json.encode({ choices = { { message = message, finish_reason = "stop" } } }) }
end

---@param chat lathe.Chat
---@return string? text
local function said(chat)
  local last = chat.messages[#chat.messages]
  return last and last.role == "llm" and last.content or nil
end

---Makes a request; exactly one of the functions is called, later.
---@param adapter table
---@param payload any
---@param on_answer fun(data: table)
---@param on_error fun(err: { message: string, stderr: string })
---@return { cancel: fun(), shutdown: fun(), status: fun(): string }
local function ask(adapter, payload, on_answer, on_error)
  local status, chat = "pending", nil
  local function finish(how, call, value)
    if status == "pending" then
      status = how
      vim.schedule(function()
        local ok, err = pcall(call, value)
        if not ok then
          require("lathe.log").error("codecompanion.http: a callback failed: " .. readable(err))
        end
      end)
    end
  end
  local function fail(message)
    finish("error", on_error, { message = message, stderr = message })
  end
  local messages, prompt = read(payload)
  local resolved = M.resolve(adapter)
  if not prompt or not resolved then
    fail(resolved and "the last message must be the user's" or "there is no such adapter")
  else
    local message
    chat, message = require("lathe.chat").create({
      adapter = rawget(resolved, "_adapter"),
      messages = messages,
      hidden = true,
    }, {
      is_single_call = true,
      is_silent = true,
      on_turn_finished = function(how)
        local text = how == "done" and said(chat)
        if text then
          finish("success", on_answer, answer_of(text))
        else
          fail(chat.failure or ("the request ended: " .. how))
        end
        chat:close()
      end,
    })
    if not chat then
      fail(message or "no chat could be opened")
    else
      -- The caller has said all that the model is to know.
      chat.tool_registry:clear()
      chat.system_prompt = nil
      chat:add_buf_message({ role = "user", content = prompt })
      chat:submit()
    end
  end
  local function cancel()
    status = status == "pending" and "cancelled" or status
    if chat then
      chat:stop()
    end
  end
  return {
    cancel = cancel,
    shutdown = cancel,
    status = function()
      return status
    end,
  }
end

local Client = {}
Client.__index = Client

---@param name string
---@param client table
---@param opts table?
---@param more table?
local function announce(name, client, opts, more)
  if opts and opts.silent then
    return
  end
  local events = require("lathe.compat.codecompanion.their_events")
  local adapter = client.adapter or {}
  local about = { name = adapter.name, formatted_name = adapter.formatted_name, model = adapter.model }
  local data = vim.tbl_extend("force", { adapter = about }, opts or {}, more or {})
  for key, value in pairs(data) do
    if type(value) == "function" then
      data[key] = nil
    end
  end
  events.fire(name, data)
  if client.user_args.event then
    events.fire(name .. client.user_args.event, data)
  end
end

---Sends a request. Older callers give a function for the answer and one for the end, newer ones a table of both.
---@param payload table
---@param actions (fun(err: any, data: any))|{ callback: fun(err: any, data: any, adapter: table), done: fun()? }
---@param ... any
---@return table handle
function Client:request(payload, actions, ...)
  local callback, done, opts
  if type(actions) == "function" then
    callback, done, opts = actions, ...
  else
    callback, done, opts = actions.callback, actions.done, ...
  end
  announce("RequestStarted", self, opts)
  local function finish(err, data)
    callback(err, data, self.adapter)
    if done then
      done()
    end
    announce("RequestFinished", self, opts, { status = err and "error" or "success" })
  end
  return ask(self.adapter, payload, function(data)
    finish(nil, data)
  end, finish)
end

---Sends a request, with functions for what comes.
---@param payload table
---@param opts { on_chunk: fun(data: any)?, on_done: fun(data: any)?, on_error: fun(err: any)?, stream: boolean? }
---@return table handle
function Client:send(payload, opts)
  opts = opts or {}
  announce("RequestStarted", self, opts)
  return ask(self.adapter, payload, function(data)
    if opts.stream and opts.on_chunk then
      opts.on_chunk(data)
    end
    if opts.on_done then
      opts.on_done(data, { adapter = self.adapter })
    end
    announce("RequestFinished", self, opts, { status = "success" })
  end, function(err)
    if opts.on_error then
      opts.on_error(err, { adapter = self.adapter })
    end
    announce("RequestFinished", self, opts, { status = "error" })
  end)
end

---The module `codecompanion.http`.
M.http = {
  static = {},
  ---@param args { adapter: any, opts: table?, user_args: table? }?
  ---@return table client
  new = function(args)
    args = args or {}
    return setmetatable({ adapter = args.adapter, opts = args.opts, user_args = args.user_args or {} }, Client)
  end,
}

return M
