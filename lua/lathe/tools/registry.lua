-- The tools that one chat uses, and what the engine is told about them.
local M = {}

local core = require("lathe.core")
local tools = require("lathe.tools")

---@class lathe.ToolRegistry
local Registry = {}
Registry.__index = Registry

---@param chat lathe.Chat
---@return lathe.ToolRegistry
function M.new(chat)
  return setmetatable({
    flags = {},
    in_use = {},
    schemas = {},
    groups = {},
    _chat = chat,
    _order = {},
    _changes = 0,
  }, Registry)
end

---@param chat lathe.Chat
---@param prompt any
---@param argument any
local function add_prompt(chat, prompt, argument)
  if type(prompt) == "function" then
    local ok, text = pcall(prompt, argument)
    if not ok then
      return require("lathe.notify").error("a system prompt failed: " .. tools.readable(text))
    end
    prompt = text
  end
  if type(prompt) == "string" and prompt ~= "" then
    chat:add_message({ role = "system", content = prompt }, { visible = false })
  end
end

---@param self lathe.ToolRegistry
---@param name string
---@param with_prompt boolean
---@return boolean added
---@return string? message
---@return boolean? told whether the user knows already
local function add_tool(self, name, with_prompt)
  if self.in_use[name] then
    return true
  end
  if not tools.is_enabled(name, self._chat) then
    return false, ('There is no tool "%s".'):format(name)
  end
  local tool, message = tools.resolve(name)
  if not tool then
    return false, message, true
  end
  if #self._order == 0 then
    local settings = require("lathe.config").get().interactions.chat.tools.opts.system_prompt
    if settings.enabled then
      add_prompt(self._chat, settings.prompt, { tools = { name } })
    end
  end
  self.in_use[name] = true
  self.schemas[name] = tool.schema
  self._order[#self._order + 1] = name
  self._changes = self._changes + 1
  if with_prompt then
    add_prompt(self._chat, tool.system_prompt, tool.schema)
  end
  require("lathe.events").emit("ToolAdded", self._chat, { tool = name })
  return true
end

---Offers a tool, or the tools of a group, to the model.
---@param name string
---@return boolean added
---@return string? message why not
---@return boolean? told whether the user knows already: a wrong definition is told once
function Registry:add(name)
  local group = tools.group(name)
  if not group then
    return add_tool(self, name, true)
  end
  if self.groups[name] then
    return true
  end
  local opts = group.opts or {}
  self.groups[name] = { name = name, tools = group.tools or {}, system_prompt = group.system_prompt }
  for _, tool in ipairs(group.tools or {}) do
    local ok, message, told = add_tool(self, tool, not opts.ignore_tool_system_prompt)
    if not ok and message and not told then
      require("lathe.notify").warn(('group "%s": %s'):format(name, message))
    end
  end
  add_prompt(self._chat, group.system_prompt, group)
  return true
end

---Offers again what was in use when the chat was saved. Its prompts are in the history.
---@param names string[]
---@param groups string[]
---@return string[] messages about those that are gone
function Registry:restore(names, groups)
  local messages = {}
  for _, name in ipairs(names) do
    local tool, message = nil, ('There is no tool "%s" any more.'):format(name)
    if tools.is_enabled(name, self._chat) then
      local fault
      tool, fault = tools.resolve(name)
      message = fault or message
    end
    if not tool then
      messages[#messages + 1] = message
    elseif not self.in_use[name] then
      self.in_use[name], self.schemas[name] = true, tool.schema
      self._order[#self._order + 1] = name
    end
  end
  for _, name in ipairs(groups) do
    local group = tools.group(name)
    if group then
      self.groups[name] = { name = name, tools = group.tools or {}, system_prompt = group.system_prompt }
    end
  end
  self._changes = self._changes + 1
  return messages
end

---No longer offers a tool, or the tools of a group.
---@param name string
function Registry:remove(name)
  local group = self.groups[name]
  if group then
    self.groups[name] = nil
    for _, tool in ipairs(group.tools) do
      self:remove(tool)
    end
    return
  end
  if self.in_use[name] then
    self.in_use[name], self.schemas[name] = nil, nil
    for i, other in ipairs(self._order) do
      if other == name then
        table.remove(self._order, i)
        break
      end
    end
    self._changes = self._changes + 1
  end
end

---Nothing is in use any more; flags are kept.
function Registry:clear()
  self.in_use, self.schemas, self.groups, self._order = {}, {}, {}, {}
  self._changes = self._changes + 1
end

-- The engine's list --------------------------------------------------------------------------------------------------

---What the values below a keyword of JSON Schema are: schemas by name, one schema, or a list of them.
local below = {
  properties = "map",
  patternProperties = "map",
  ["$defs"] = "map",
  definitions = "map",
  dependentSchemas = "map",
  items = "schema",
  contains = "schema",
  additionalProperties = "schema",
  unevaluatedProperties = "schema",
  propertyNames = "schema",
  ["not"] = "schema",
  ["if"] = "schema",
  ["then"] = "schema",
  ["else"] = "schema",
  anyOf = "list",
  allOf = "list",
  oneOf = "list",
  prefixItems = "list",
}

---A copy of a schema in which empty tables that JSON Schema wants as objects are objects: Lua cannot tell `{}`
---from `[]`.
---@param schema any
---@return any
local function with_objects(schema)
  if type(schema) ~= "table" then
    return schema
  end
  if next(schema) == nil then
    return vim.empty_dict()
  end
  local result = {}
  for key, child in pairs(schema) do
    local kind = below[key]
    if type(child) ~= "table" or not kind then
      local is_object = key == "default" and schema.type == "object" and type(child) == "table" and next(child) == nil
      result[key] = is_object and vim.empty_dict() or child
    elseif kind == "schema" then
      result[key] = with_objects(child)
    else
      local nested = (kind == "map" and next(child) == nil) and vim.empty_dict() or {}
      for name, value in pairs(child) do
        nested[name] = with_objects(value)
      end
      result[key] = nested
    end
  end
  return result
end

---The JSON text of a tool's parameters.
---@param tool lathe.Tool
---@return string?
local function schema_text(tool)
  local parameters = tool.schema["function"].parameters
  return parameters and vim.json.encode(with_objects(parameters)) or nil
end

---Whether the set of the last request still says the same.
---@param self lathe.ToolRegistry
---@return boolean
local function is_fresh(self)
  if not self._set or self._set_changes ~= self._changes or self._set_version ~= tools.version then
    return false
  end
  for name, tool in pairs(self._set_tools) do
    if tools.resolve(name) ~= tool then
      return false
    end
  end
  return true
end

---What the engine is offered with a request; made anew only when something changed.
---@return lathe.ToolSet
function Registry:offered()
  if is_fresh(self) then
    return self._set
  end
  local list, used = {}, {}
  for _, name in ipairs(self._order) do
    local tool = tools.resolve(name)
    if tool and tools.is_enabled(name, self._chat) then
      local ok, schema = pcall(schema_text, tool)
      if ok then
        local parallel = tool.opts.parallel == true
        local fn = tool.schema["function"]
        list[#list + 1] = {
          name = name,
          description = type(fn.description) == "string" and fn.description or nil,
          strict = type(fn.strict) == "boolean" and fn.strict or nil,
          schema = schema,
          numeric_strings = true,
          parallel = parallel,
        }
        used[name] = tool
      else
        require("lathe.notify").error(('tool "%s": schema: %s'):format(name, tools.readable(schema)))
      end
    end
  end
  self._set = core.lib.tool_set({ tools = list })
  self._set_tools, self._set_changes, self._set_version = used, self._changes, tools.version
  return self._set
end

return M
