-- Resources and prompts in a chat's input: `#{mcp:<uri>}` becomes the text of a resource, `/mcp:<prompt>` the messages
-- of a prompt (N-43 to N-45). Both may take their time, so they are made before anything is sent.
local M = {}

local context = require("lathe.chat.input.context")
local core = require("lathe.core")
local limit = require("lathe.chat.input.limit")
local notify = require("lathe.notify")
local store = require("lathe.native.store")

---What can be written after `#` in a chat.
---@return { name: string, description: string }[]
function M.references()
  local list = {}
  for _, one in ipairs(store.has_any() and require("lathe.native.resource").static() or {}) do
    local description = one.def.description
    list[#list + 1] = {
      name = "mcp:" .. one.def.uri,
      description = type(description) == "string" and description or one.def.name or one.server.displayName,
    }
  end
  return list
end

---What can be written after `/` at the start of a message.
---@return string[]
function M.commands()
  return vim.tbl_map(function(name)
    return "mcp:" .. name
  end, store.has_any() and require("lathe.native.prompt").names() or {})
end

-- Resources -----------------------------------------------------------------------------------------------------------

---The text of a resource that was read for the message that is sent now.
---@param chat lathe.Chat
---@return fun(uri: string): string? text nil: it is left out
function M.take_read(chat)
  local read = chat.read_resources or {}
  chat.read_resources = nil
  return function(uri)
    local outcome = read[uri]
    if not outcome then
      -- Written after the message was sent, while it waited.
      notify.warn(("#{mcp:%s} is left out: it was not read"):format(uri))
    end
    return outcome and outcome.code == "OK" and outcome.text or nil
  end
end

---Reads what a message mentions, then sends it.
---@param chat lathe.Chat
---@param uris string[]
local function read_all(chat, uris)
  local left, read = #uris, {}
  chat.is_reading = true
  for _, uri in ipairs(uris) do
    require("lathe.native.resource").read(nil, uri, { chat = chat }, function(outcome)
      left = left - 1
      read[uri] = outcome
      if outcome.code ~= "OK" then
        notify.warn(("#{mcp:%s} is left out: %s"):format(uri, outcome.text))
      end
      if left == 0 then
        chat.is_reading, chat.read_resources = false, read
        if not chat.is_closing then
          core.lib.submit({ chat = chat.id })
        end
      end
    end)
  end
end

-- Prompts -------------------------------------------------------------------------------------------------------------

---Asks for the arguments of a prompt, one by one.
---@param def lathe.native.PromptDef
---@param done fun(args: table<string, string>)
local function ask_arguments(def, done)
  local list, args = require("lathe.native.prompt").arguments(def), {}
  local function step(i)
    local argument = list[i]
    if not argument then
      return done(args)
    end
    local function take(value)
      if value == nil or value == "" then
        value = argument.default
      end
      if value == nil and argument.required then
        return notify.warn(("the prompt %q needs %s: nothing was added"):format(def.name, argument.name))
      end
      args[argument.name] = value
      step(i + 1)
    end
    local about = argument.description and (" (%s)"):format(argument.description) or ""
    local label = ("%s: %s%s"):format(def.name, argument.name, about)
    if type(argument.enum) == "table" and argument.enum[1] then
      vim.ui.select(argument.enum, { prompt = label }, take)
    else
      vim.ui.input({ prompt = label .. ": ", default = argument.default }, take)
    end
  end
  step(1)
end

---The text of a message of a prompt; other content is named.
---@param message { role: string, content: table }
---@return string
local function text_of(message)
  local content = message.content
  if content.type == "text" then
    return content.text
  elseif content.type == "resource" and type(content.resource) == "table" and content.resource.text then
    return ("Resource %s:\n%s"):format(content.resource.uri, content.resource.text)
  end
  return ("[%s, which a prompt cannot add here]"):format(tostring(content.type))
end

local roles = { user = "user", assistant = "llm", system = "system" }

---@param chat lathe.Chat
---@param messages { role: string, content: table }[]
local function add_messages(chat, messages)
  local last = messages[#messages]
  for i, message in ipairs(messages) do
    local text, mark = limit.text(text_of(message), chat.limits)
    if mark then
      notify.warn("a message of the prompt is " .. mark)
    end
    if i == #messages and last.role == "user" then
      chat:add_buf_message({ role = "user", content = context.plain(text) })
    else
      chat:add_message({ role = roles[message.role], content = text })
    end
  end
end

---Makes the messages of a prompt and adds them to a chat. A failure adds nothing.
---@param chat lathe.Chat
---@param name string `server:prompt`, or a prompt that only one server has
function M.use_prompt(chat, name)
  local found, err = require("lathe.native.prompt").find(nil, name)
  if not found then
    return notify.warn(err.message)
  end
  ask_arguments(found.def, function(args)
    require("lathe.native.prompt").get(found.server.name, found.def.name, args, { chat = chat }, function(outcome)
      if chat.is_closing then
        return
      elseif outcome.code ~= "OK" then
        return notify.warn(("the prompt %q added nothing: %s"):format(found.def.name, outcome.text))
      end
      if chat.render:input() == "/mcp:" .. name then
        chat.render:clear_input()
      end
      add_messages(chat, outcome.items)
    end)
  end)
end

---Whether a message is ours to prepare; it is sent, or replaced, later.
---@param chat lathe.Chat
---@return boolean
function M.take_over(chat)
  if not store.has_any() then
    return false
  elseif chat.is_reading then
    return true
  end
  local text = chat.render:input()
  local prompt = text and text:match("^/mcp:(%S+)$")
  if prompt then
    M.use_prompt(chat, prompt)
    return true
  end
  local uris = context.resources(text or "")
  if uris[1] then
    read_all(chat, uris)
  end
  return uris[1] ~= nil
end

return M
