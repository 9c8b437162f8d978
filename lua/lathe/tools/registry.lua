-- The tools that one chat uses, and what the engine is told about them.
local M = {}

local core = require("lathe.core")
local provider = require("lathe.tools.provider")
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
    _group_order = {},
    _changes = 0,
    _hidden = {},
  }, Registry)
end

-- Tools ---------------------------------------------------------------------------------------------------------------

---A tool that the chat may offer under a name: the provider's own, else one of the configuration.
---@param name string
---@return lathe.FoundTool? found
---@return string? message why not
---@return boolean? told whether the user knows already: a wrong definition is told once
function Registry:find(name)
  local chat = self._chat
  local entry, fault = provider.find(chat.adapter, name)
  if fault then
    return nil, fault
  elseif entry then
    local client, message, told = provider.client_tool(chat.adapter, name, entry)
    if message then
      return nil, message, told
    end
    return { tool = client, source = "provider", provider = entry }
  elseif not tools.is_enabled(name, chat) then
    return nil, ('There is no tool "%s".'):format(name)
  end
  local tool, message = tools.resolve(name)
  if not tool then
    return nil, message, true
  end
  return { tool = tool, source = tools.source_kind(name) }
end

---The definition that a call runs.
---@param name string
---@return lathe.Tool? tool
---@return string? message
---@return "lua"|"builtin"|"provider" source
function Registry:resolve(name)
  local entry = provider.find(self._chat.adapter, name)
  if entry then
    local tool, message = provider.client_tool(self._chat.adapter, name, entry)
    return tool, message, "provider"
  end
  local tool, message = tools.resolve(name)
  return tool, message, tools.source_kind(name)
end

---Whether there is a tool or a group of that name, on or off.
---@param name string
---@return boolean
function Registry:knows(name)
  return tools.is_known(name) or provider.find(self._chat.adapter, name) ~= nil
end

---@param name string
---@param found lathe.FoundTool
---@return table
local function schema_of(name, found)
  if found.provider then
    return provider.schema(name, found.provider)
  end
  -- A copy: hooks of adapters change what they get, and the definition is the author's.
  return vim.deepcopy((found.tool --[[@as lathe.Tool]]).schema)
end

---@param self lathe.ToolRegistry
---@param name string
---@return boolean added
---@return string? message
---@return boolean? told
local function add_tool(self, name)
  if self.in_use[name] then
    return true
  end
  local found, message, told = self:find(name)
  if not found then
    return false, message, told
  end
  self.in_use[name] = true
  self.schemas[name] = schema_of(name, found)
  self._order[#self._order + 1] = name
  self._changes = self._changes + 1
  require("lathe.events").emit("ToolAdded", self._chat, { tool = name, source = found.source })
  return true
end

---@param self lathe.ToolRegistry
---@param name string
---@param group table
local function add_group(self, name, group)
  self.groups[name] = {
    name = name,
    description = group.description,
    tools = vim.list_slice(group.tools or {}),
    system_prompt = group.system_prompt,
    opts = vim.tbl_extend("force", { collapse_tools = true }, group.opts or {}),
  }
  self._group_order[#self._group_order + 1] = name
end

---Offers a tool, or the tools of a group, to the model.
---@param name string
---@return boolean added
---@return string? message why not
---@return boolean? told whether the user knows already: a wrong definition is told once
function Registry:add(name)
  local group = tools.group(name)
  if not group then
    return add_tool(self, name)
  end
  if self.groups[name] then
    return true
  end
  add_group(self, name, group)
  for _, tool in ipairs(group.tools or {}) do
    local ok, message, told = add_tool(self, tool)
    if not ok and message and not told then
      require("lathe.notify").warn(('group "%s": %s'):format(name, message))
    end
  end
  return true
end

---Offers again what was in use when the chat was saved.
---@param names string[]
---@param groups string[]
---@return string[] messages about those that are gone
function Registry:restore(names, groups)
  local messages = {}
  for _, name in ipairs(names) do
    local ok, message, told = add_tool(self, name)
    if not ok and message and not told then
      messages[#messages + 1] = message
    end
  end
  for _, name in ipairs(groups) do
    local group = tools.group(name)
    if group and not self.groups[name] then
      add_group(self, name, group)
    end
  end
  return messages
end

---@param list string[]
---@param name string
local function remove_from(list, name)
  for i, other in ipairs(list) do
    if other == name then
      table.remove(list, i)
      return
    end
  end
end

---No longer offers a tool, or the tools of a group.
---@param name string
function Registry:remove(name)
  local group = self.groups[name]
  if group then
    self.groups[name] = nil
    remove_from(self._group_order, name)
    for _, tool in ipairs(group.tools) do
      self:remove(tool)
    end
    return
  end
  if self.in_use[name] then
    self.in_use[name], self.schemas[name] = nil, nil
    remove_from(self._order, name)
    self._changes = self._changes + 1
  end
end

---Nothing is in use any more; flags are kept.
function Registry:clear()
  self.in_use, self.schemas, self.groups, self._order, self._group_order = {}, {}, {}, {}, {}
  self._changes = self._changes + 1
end

---Leaves tools out of what the model is offered: permission rules deny every call of them.
---@param hidden table<string, string> the rule, by the tool's name
function Registry:hide(hidden)
  if not vim.deep_equal(self._hidden, hidden) then
    self._hidden = hidden
    self._changes = self._changes + 1
  end
end

---The rule that hides a tool from the model.
---@param name string
---@return string?
function Registry:hidden_by(name)
  return self._hidden[name]
end

---The tools in use that can be offered now, in the order in which they were added.
---@param with_hidden boolean? those as well that permission rules hide
---@return { name: string, found: lathe.FoundTool }[]
function Registry:usable(with_hidden)
  local list = {}
  for _, name in ipairs(self._order) do
    local found = (with_hidden or not self._hidden[name]) and self:find(name)
    if found then
      list[#list + 1] = { name = name, found = found }
    end
  end
  return list
end

---The groups in use, in the order in which they were added.
---@return table[]
function Registry:used_groups()
  local list = {}
  for i, name in ipairs(self._group_order) do
    list[i] = self.groups[name]
  end
  return list
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
  local adapter = self._chat.adapter
  if self._set_adapter ~= adapter then
    return false
  end
  for name, used in pairs(self._set_tools) do
    -- The provider's tools depend on the adapter, which may change in a chat.
    local entry = provider.find(adapter, name)
    if entry ~= used.provider or (not entry and tools.resolve(name) ~= used.tool) then
      return false
    end
  end
  return true
end

---@param name string
---@param found lathe.FoundTool
---@return lathe.OfferedTool
local function offer(name, found)
  local tool = found.tool --[[@as lathe.Tool]]
  local fn = tool.schema["function"]
  return {
    name = name,
    description = type(fn.description) == "string" and fn.description or nil,
    strict = type(fn.strict) == "boolean" and fn.strict or nil,
    schema = schema_text(tool),
    numeric_strings = true,
    parallel = tool.opts.parallel == true,
    handlers_once = tool.opts.use_handlers_once == true,
    by_provider = found.provider ~= nil,
  }
end

---What the engine is offered with a request; made anew only when something changed.
---@return lathe.ToolSet
function Registry:offered()
  if is_fresh(self) then
    return self._set
  end
  local list, used = {}, {}
  self.schemas = {}
  for _, one in ipairs(self:usable()) do
    local name, found = one.name, one.found
    used[name] = found
    -- What only the provider runs is never called here.
    local ok, offered = true, nil
    if found.tool then
      ok, offered = pcall(offer, name, found)
    end
    if ok then
      list[#list + 1] = offered
      self.schemas[name] = schema_of(name, found)
    else
      require("lathe.notify").error(('tool "%s": schema: %s'):format(name, tools.readable(offered)))
    end
  end
  self._set = core.lib.tool_set({ tools = list })
  self._set_tools, self._set_changes, self._set_version = used, self._changes, tools.version
  self._set_adapter = self._chat.adapter
  return self._set
end

return M
