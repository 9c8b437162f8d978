-- The tools that one chat uses, and what the engine is told about them.
local M = {}

local core = require("lathe.core")
local native = require("lathe.native.records")
local provider_tools = require("lathe.adapters.provider_tools")
local provider = require("lathe.tools.provider")
local schema_json = require("lathe.schema_json")
local tools = require("lathe.tools")

local hrtime = vim.uv.hrtime

-- How long one slice of making the list ready may take.
local SLICE_NS = 3e6

-- How many tools go to the library at a time.
local CHUNK = 50

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
    _is_ready = true,
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
  local entry, fault = provider_tools.find(chat.adapter, name)
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
  local entry = provider_tools.find(self._chat.adapter, name)
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
  return tools.is_known(name) or provider_tools.find(self._chat.adapter, name) ~= nil
end

---@param name string
---@param found lathe.FoundTool
---@return table
local function schema_of(name, found)
  if found.provider then
    return provider_tools.schema(name, found.provider)
  end
  if found.source == "native" then
    return found.tool.schema -- made by us, and for nobody else
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
  if group.is_native then
    self.groups[name] = {
      name = name,
      description = group.description,
      tools = {},
      system_prompt = group.system_prompt,
      opts = group.opts,
      is_native = true,
    }
    self._group_order[#self._group_order + 1] = name
    -- Members that are many come with the next list.
    self._is_ready = #self._order < CHUNK and self:refresh(hrtime() + SLICE_NS) == nil
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

-- Native servers ------------------------------------------------------------------------------------------------------

---What was not there when a refresh began, or is there no more.
---@param self lathe.ToolRegistry
---@param group table
---@param until_ns number
---@return boolean done
local function refresh_group(self, group, until_ns)
  local now = tools.group(group.name)
  local is_member = {}
  for _, name in ipairs(now and now.tools or {}) do
    is_member[name] = true
    if tools.is_configured(name) and now.is_native then
      native.tell_hidden(name)
      is_member[name] = nil
    elseif not self.in_use[name] then
      if hrtime() > until_ns then
        return false
      elseif add_tool(self, name) then
        group.tools[#group.tools + 1] = name
      end
    end
  end
  group.system_prompt = now and now.system_prompt
  group.tools = vim.tbl_filter(function(name)
    if not is_member[name] then
      self:remove(name)
    end
    return is_member[name] or false
  end, group.tools)
  return true
end

---Brings the members of native groups and the dynamic fields of native tools up to date, as far as time allows.
---@param until_ns number
---@param from integer? the tool to go on with
---@return integer? next the tool to go on with; nil: it is done
function Registry:refresh(until_ns, from)
  for _, name in ipairs(from and {} or vim.list_slice(self._group_order)) do
    local group = self.groups[name]
    if group and group.is_native and not refresh_group(self, group, until_ns) then
      return 0
    end
  end
  for i = math.max(from or 1, 1), #self._order do
    if hrtime() > until_ns then
      return i
    end
    native.refresh(self._order[i])
  end
end

-- The engine's list --------------------------------------------------------------------------------------------------

---Whether the set of the last request still says the same.
---@param self lathe.ToolRegistry
---@return boolean
local function is_fresh(self)
  if not self._set or self._set_changes ~= self._changes or self._set_version ~= tools.version then
    return false
  end
  local adapter = self._chat.adapter
  if self._set_adapter ~= adapter or self._set_native ~= native.version() then
    return false
  end
  for name, used in pairs(self._set_tools) do
    -- The provider's tools depend on the adapter, which may change in a chat.
    local entry = provider_tools.find(adapter, name)
    if entry ~= used.provider or (not entry and tools.resolve(name) ~= used.tool) then
      return false
    end
  end
  return true
end

---@param name string
---@param found lathe.FoundTool
---@param by_name boolean? it is not described in the request
---@return lathe.OfferedTool
local function offer(name, found, by_name)
  local tool = found.tool --[[@as lathe.Tool]]
  local fn = tool.schema["function"]
  return {
    name = name,
    description = type(fn.description) == "string" and fn.description or nil,
    strict = type(fn.strict) == "boolean" and fn.strict or nil,
    schema = schema_json.text(tool),
    numeric_strings = found.source ~= "native",
    fills_defaults = tool.fills_defaults,
    server = tool.server,
    tool = tool.tool,
    routes = tool.routes,
    parallel = tool.opts.parallel == true,
    handlers_once = tool.opts.use_handlers_once == true,
    by_provider = found.provider ~= nil or by_name == true,
  }
end

---@class lathe.Listing a list that is being made
---@field usable { name: string, found: lathe.FoundTool, by_name: boolean? }[]
---@field next integer
---@field used table<string, lathe.FoundTool>
---@field schemas table<string, table>
---@field set lathe.ToolSet?
---@field state table what it was made for

---Adds the native tools that can only be called by name, when the tool is in use that does so.
---@param self lathe.ToolRegistry
---@param usable { name: string, found: lathe.FoundTool, by_name: boolean? }[]
---@param with_hidden boolean? those as well that permission rules hide
local function add_by_name(self, usable, with_hidden)
  local router = self.in_use.use_mcp_tool and self:find("use_mcp_tool")
  for _, name in ipairs(router and router.source == "native" and native.names() or {}) do
    local is_free = not self.in_use[name] and (with_hidden or not self._hidden[name])
    if is_free and not tools.is_configured(name) and native.record(name) then
      native.refresh(name)
      usable[#usable + 1] = { name = name, found = self:find(name), by_name = true }
    end
  end
end

---Every tool that the model can reach, hidden ones included.
---@return { name: string, found: lathe.FoundTool }[]
function Registry:reachable()
  local list = self:usable(true)
  add_by_name(self, list, true)
  return list
end

---@param self lathe.ToolRegistry
---@return lathe.Listing
local function begin(self)
  local usable = self:usable()
  add_by_name(self, usable)
  return {
    usable = usable,
    next = 1,
    used = {},
    schemas = {},
    state = {
      changes = self._changes,
      version = tools.version,
      adapter = self._chat.adapter,
      native = native.version(),
    },
  }
end

---Adds tools to a list, as far as time allows.
---@param listing lathe.Listing
---@param until_ns number
---@return boolean done
local function build(listing, until_ns)
  local usable = listing.usable
  repeat
    local chunk = {}
    local last = math.min(listing.next + CHUNK - 1, #usable)
    for i = listing.next, last do
      local name, found, by_name = usable[i].name, usable[i].found, usable[i].by_name
      listing.used[name] = found
      -- What only the provider runs is never called here.
      local ok, offered = true, nil
      if found.tool then
        ok, offered = pcall(offer, name, found, by_name)
      end
      if ok then
        chunk[#chunk + 1] = offered
        listing.schemas[name] = not by_name and schema_of(name, found) or nil
      else
        require("lathe.notify").error(('tool "%s": schema: %s'):format(name, tools.readable(offered)))
      end
    end
    listing.next = last + 1
    listing.set = core.lib.tool_set({ base = listing.set, tools = chunk })
  until listing.next > #usable or hrtime() > until_ns
  return listing.next > #usable
end

---@param self lathe.ToolRegistry
---@param listing lathe.Listing
local function keep(self, listing)
  local state = listing.state
  self._set, self._set_tools, self.schemas = listing.set, listing.used, listing.schemas
  self._set_changes, self._set_version, self._set_adapter = state.changes, state.version, state.adapter
  self._set_native = state.native
end

---What the engine is offered with a request; made anew only when something changed.
---@return lathe.ToolSet
function Registry:offered()
  if not self._is_ready then
    self:refresh(math.huge)
    self._is_ready = true
  end
  if not is_fresh(self) then
    local listing = begin(self)
    build(listing, math.huge)
    keep(self, listing)
  end
  return self._set
end

---Brings what is in use up to date for a request, in slices: hundreds of tools take longer than the editor may be held.
---@param done fun() called at once when it takes one slice
function Registry:gather(done)
  local from ---@type integer?
  local function go_on()
    local next_tool = self:refresh(hrtime() + SLICE_NS, from)
    if next_tool then
      from = next_tool > 0 and next_tool or nil
      return vim.defer_fn(go_on, 0)
    end
    self._is_ready = true
    done()
  end
  go_on()
end

---Makes the list for a request, in slices.
---@param done fun() called at once when it takes one slice
function Registry:prepare(done)
  if is_fresh(self) then
    return done()
  end
  local listing = begin(self)
  local function go_on()
    if not build(listing, hrtime() + SLICE_NS) then
      return vim.defer_fn(go_on, 0)
    end
    keep(self, listing)
    if #listing.usable > CHUNK then
      return vim.defer_fn(done, 0)
    end
    done()
  end
  go_on()
end

return M
