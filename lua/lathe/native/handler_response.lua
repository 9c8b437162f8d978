-- The response builders of handlers. What was built is looked at in `handler_result.lua`.
local M = {}

local shown = require("lathe.native.handler_result").shown

---@class lathe.native.Response
---@field kind "tool"|"resource"|"prompt"
---@field items table[]
---@field is_error boolean
---@field is_settled boolean
---@field uri string? of a resource
---@field role string? of a prompt's next item
---@field _settle fun(value: any, is_late: boolean) once with `false`, later with `true`
---@field _late_logged boolean?

---@param self lathe.native.Response
---@param item table
---@return lathe.native.Response
local function add(self, item)
  if self.is_settled then
    self._settle(nil, true)
    return self
  end
  if self.kind == "prompt" then
    item = { role = self.role, content = item }
  end
  self.items[#self.items + 1] = item
  return self
end

-- Methods that all kinds have.
local shared = {}

---Adds a picture: bytes, base64 or a `data:` URL.
---@param data string
---@param mime string?
---@return lathe.native.Response
function shared:image(data, mime)
  return add(self, { type = "image", data = data, mimeType = mime })
end

---Adds a sound.
---@param data string
---@param mime string?
---@return lathe.native.Response
function shared:audio(data, mime)
  return add(self, { type = "audio", data = data, mimeType = mime })
end

---Ends the call with what was added, or with `result`.
---@param result any
---@return lathe.native.Response
function shared:send(result)
  if self.is_settled then
    self._settle(result, true)
  else
    self.is_settled = true
    if result == nil or result == self then
      result = { content = self.items, isError = self.is_error }
    end
    self._settle(result, false)
  end
  return self
end

---Ends the call with an error; what was added before is gone.
---@param message any
---@param details any
---@return lathe.native.Response
function shared:error(message, details)
  if self.is_settled then
    self._settle(nil, true)
    return self
  end
  self.items = { { type = "text", text = shown(message) } }
  if details ~= nil then
    self.items[2] = { type = "text", text = "Details: " .. vim.inspect(details) }
  end
  self.is_error = true
  return shared.send(self)
end

---A function that runs `fn`, in which a throw ends the call.
---@param fn function
---@return function
function shared:guard(fn)
  return function(...)
    local function keep_trace(err)
      return { err, debug.traceback("", 2) }
    end
    local results = { xpcall(fn, keep_trace, ...) }
    if results[1] then
      return unpack(results, 2, table.maxn(results))
    end
    self._throw(results[2][1], results[2][2])
  end
end

-- Tools -------------------------------------------------------------------------------------------------------------

local Tool = setmetatable({}, { __index = shared })
Tool.__index = Tool

---@param text any
---@return lathe.native.Response
function Tool:text(text)
  return add(self, { type = "text", text = shown(text) })
end

---@param resource { uri: string, text: string?, blob: string?, mimeType: string? }
---@return lathe.native.Response
function Tool:resource(resource)
  return add(self, { type = "resource", resource = resource })
end

-- Resources -----------------------------------------------------------------------------------------------------------

local Resource = setmetatable({}, { __index = shared })
Resource.__index = Resource

---@param text any
---@param mime string?
---@return lathe.native.Response
function Resource:text(text, mime)
  return add(self, { uri = self.uri, text = shown(text), mimeType = mime or "text/plain" })
end

---@param data string
---@param mime string?
---@return lathe.native.Response
function Resource:blob(data, mime)
  return add(self, { uri = self.uri, blob = data, mimeType = mime or "application/octet-stream" })
end

---@param data string
---@param mime string?
---@return lathe.native.Response
function Resource:image(data, mime)
  return Resource.blob(self, data, mime or "image/png")
end

---@param data string
---@param mime string?
---@return lathe.native.Response
function Resource:audio(data, mime)
  return Resource.blob(self, data, mime or "audio/mp3")
end

-- Prompts -------------------------------------------------------------------------------------------------------------

local Prompt = setmetatable({}, { __index = shared })
Prompt.__index = Prompt
Prompt.text = Tool.text
Prompt.resource = Tool.resource

---@param data string
---@param mime string?
---@return lathe.native.Response
function Prompt:blob(data, mime)
  return add(self, { type = "blob", data = data, mimeType = mime or "application/octet-stream" })
end

for method, role in pairs({ user = "user", llm = "assistant", system = "system" }) do
  ---What follows is said by another.
  ---@return lathe.native.Response
  Prompt[method] = function(self)
    self.role = role
    return self
  end
end

local classes = { tool = Tool, resource = Resource, prompt = Prompt }

---A builder of which nothing was built.
---@param kind "tool"|"resource"|"prompt"
---@param settle fun(value: any, is_late: boolean)
---@param throw fun(err: any, trace: string)
---@param uri string?
---@return lathe.native.Response
function M.new(kind, settle, throw, uri)
  return setmetatable({
    kind = kind,
    items = {},
    is_error = false,
    is_settled = false,
    uri = uri,
    role = kind == "prompt" and "user" or nil,
    _settle = settle,
    _throw = throw,
  }, classes[kind])
end

return M
