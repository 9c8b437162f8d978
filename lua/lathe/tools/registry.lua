-- The tools and groups that one chat uses. What a request offers of them is made in `tool_set.lua`; where they come
-- from is not known here.
local M = {}

local events = require("lathe.events")
local faults = require("lathe.fault")
local notify = require("lathe.notify")
local tool_set = require("lathe.tools.tool_set")
local tools = require("lathe.tools")

local hrtime = vim.uv.hrtime

-- So many tools are brought up to date at once when a group is added, within so much time.
local FEW = 50
local AT_ONCE_NS = 3e6

---@class lathe.ToolRegistry
---@field _generation integer another one whenever what it holds may be offered otherwise
local Registry = {}
Registry.__index = Registry
for _, methods in ipairs({ require("lathe.tools.registry_updates"), require("lathe.tools.registry_names") }) do
  for name, method in pairs(methods) do
    Registry[name] = method
  end
end

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
    _generation = 0,
    _changes = 0,
    _hidden = {},
    _awaited = {},
  }, Registry)
end

---What it holds has changed.
---@param self lathe.ToolRegistry
local function changed(self)
  self._changes = self._changes + 1
  self._generation = self._generation + 1
end

-- Tools ---------------------------------------------------------------------------------------------------------------

---A tool that the chat may offer under a name.
---@param name string
---@return lathe.FoundTool? found
---@return lathe.Fault? fault why not
function Registry:find(name)
  return tools.find(name, self._chat)
end

---The definition that a call runs.
---@param name string
---@return lathe.Tool? tool
---@return lathe.Fault? fault
---@return string kind who made it, as events tell it
function Registry:resolve(name)
  local found, fault, kind = tools.definition(name, self._chat)
  return found and found.tool, fault, kind or "lua"
end

---How a call that found no tool to run is told, when it is known what it asked for.
---@param name string
---@return { kind: string, server: string, code: string }? nil: it has no server
function Registry:refused(name)
  local listed = tools.refused(name, self._chat)
  if listed and listed.server then
    local is_offered = self.in_use[name] or (listed.via and self.in_use[listed.via])
    local code = listed.code or (is_offered and "INVALID_ARGUMENTS" or "NOT_FOUND")
    return { kind = listed.kind, server = listed.server, code = code }
  end
end

---Whether there is a tool or a group of that name, on or off.
---@param name string
---@return boolean
function Registry:knows(name)
  return tools.is_known(name, self._chat)
end

---The tool or group that goes by a name. Groups of servers have names without dashes and dots, whatever the server's is.
---@param name string
---@return string? name nil: there is none
function Registry:real_name(name)
  if self:knows(name) then
    return name
  end
  local plain = name:gsub("[^%w_]", "_")
  return self:knows(plain) and plain or nil
end

---Offers a tool to the model.
---@param name string
---@return lathe.Fault? fault nil: it is in use
function Registry:add_tool(name)
  if self.in_use[name] then
    return nil
  end
  local found, fault = self:find(name)
  if not found then
    return fault
  end
  self.in_use[name] = true
  self.schemas[name] = tool_set.schema_of(found)
  self._order[#self._order + 1] = name
  self._awaited[name] = nil
  changed(self)
  events.emit("ToolAdded", self._chat, { tool = name, source = found.kind })
end

---@param self lathe.ToolRegistry
---@param name string
---@param group lathe.ToolGroup
---@param is_live boolean? its members are those that its source has
local function add_group(self, name, group, is_live)
  self.groups[name] = {
    name = name,
    description = group.description,
    tools = is_live and {} or vim.list_slice(group.tools or {}),
    system_prompt = group.system_prompt,
    opts = vim.tbl_extend("force", { collapse_tools = true }, group.opts or {}),
    is_live = is_live,
  }
  self._group_order[#self._group_order + 1] = name
end

---Offers a tool, or the tools of a group, to the model.
---@param name string
---@return lathe.Fault? fault why not
function Registry:use(name)
  local group, listed = tools.group(name, self._chat)
  if not group or not listed then
    return self:add_tool(name)
  end
  if self.groups[name] then
    return nil
  elseif tools.is_group_off(name, self._chat) then
    return faults.new(('All tools of the group "%s" are off.'):format(name))
  end
  add_group(self, name, group, listed.is_live)
  if listed.is_live then
    -- Members that are many come with the next list.
    if #self._order < FEW then
      self:refresh(hrtime() + AT_ONCE_NS)
    end
    return nil
  end
  for _, tool in ipairs(group.tools or {}) do
    local fault = self:add_tool(tool)
    if fault then
      notify.fault(fault, "warn", ('group "%s": '):format(name))
    end
  end
end

---Offers a tool, or the tools of a group, to the model.
---@param name string
---@return boolean added
---@return string? message why not
function Registry:add(name)
  local is_new = not (self.in_use[name] or self.groups[name])
  local fault = self:use(name)
  if not fault and is_new then
    -- Whoever types a mention sees it; what code adds would go unseen.
    self._chat:show_context(name)
  end
  return fault == nil, fault and fault.message
end

---Like `use`, for what may come later: when it is not there and a source still starts, it is taken when it comes.
---@param name string
---@return lathe.Fault? fault
function Registry:expect(name)
  local fault = self:use(name)
  if fault and not self:knows(name) and tools.is_starting() then
    self._awaited[name] = true
    return nil
  end
  return fault
end

---Offers again what was in use when the chat was saved.
---@param names string[]
---@param groups string[]
---@return lathe.Fault[] faults of those that are gone
function Registry:restore(names, groups)
  local found = {}
  for _, name in ipairs(names) do
    local fault = self:add_tool(name)
    if fault and not self:knows(name) and tools.is_starting() then
      self._awaited[name] = true
    else
      found[#found + 1] = fault
    end
  end
  for _, name in ipairs(groups) do
    local group = tools.group(name, self._chat)
    if group and not self.groups[name] then
      add_group(self, name, group)
    end
  end
  return found
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
  self._awaited[name] = nil
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
    changed(self)
  end
end

---Nothing is in use any more; flags are kept.
function Registry:clear()
  self.in_use, self.schemas, self.groups, self._order, self._group_order = {}, {}, {}, {}, {}
  self._awaited = {}
  changed(self)
end

---Leaves tools out of what the model is offered: permission rules deny every call of them.
---@param hidden table<string, string> the rule, by the tool's name
function Registry:hide(hidden)
  if not vim.deep_equal(self._hidden, hidden) then
    self._hidden = hidden
    changed(self)
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
---@return lathe.UsableTool[]
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

---The tools that can only be called by name, through tools in use that do so.
---@param with_hidden boolean? those as well that permission rules hide
---@return lathe.UsableTool[]
function Registry:reached(with_hidden)
  local list = {}
  for router, names in pairs(tools.snapshot(self._chat).reached) do
    local through = self.in_use[router] and self:find(router)
    for _, name in ipairs(through and names or {}) do
      local is_free = not self.in_use[name] and (with_hidden or not self._hidden[name])
      local listed = is_free and tools.look_up(name, self._chat)
      if listed and through and listed.source == through.listed.source then
        tools.refresh_tool(name, self._chat)
        list[#list + 1] = { name = name, found = self:find(name), by_name = true }
      end
    end
  end
  return list
end

---Every tool that the model can reach, hidden ones included.
---@return lathe.UsableTool[]
function Registry:reachable()
  return vim.list_extend(self:usable(true), self:reached(true))
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

return M
