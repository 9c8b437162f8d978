-- The native servers that are registered, from `setup` or by a call. What chats are told of them is in
-- `records.lua`, what runs in `handler_call.lua`.
local M = {}

local listeners = require("lathe.native.listeners")
local config = require("lathe.config")
local notify = require("lathe.notify")
local server_status = require("lathe.native.server_status")
local validate = require("lathe.native.validate")

---Counts changes; what is derived from the servers is made anew when it moved.
M.version = 0

---@class lathe.native.Server
---@field name string
---@field displayName string
---@field description string|fun(def: table): string
---@field status "connected"|"disabled"
---@field capabilities { tools: table[], resources: table[], resourceTemplates: table[], prompts: table[] }
---@field caller_type string? of those that were registered under another plugin's name

local servers = {} ---@type table<string, lathe.native.Server>
local order = {} ---@type string[]
local configured = setmetatable({}, { __mode = "k" }) ---@type table<table, true> servers and items of `setup`
local synced ---@type table? the configuration that the servers stand for

local events = {
  tools = "tool_list_changed",
  resources = "resource_list_changed",
  resourceTemplates = "resource_list_changed",
  prompts = "prompt_list_changed",
}

---@param event string
---@param server string
local function changed(event, server)
  M.version = M.version + 1
  listeners.fire(event, server)
end

-- Registration --------------------------------------------------------------------------------------------------------

---@param name string
---@param def table?
---@return lathe.native.Server
local function create(name, def)
  local server = {
    name = name,
    displayName = def and def.displayName or name,
    description = def and def.description or "",
    status = server_status.first(name),
    capabilities = { tools = {}, resources = {}, resourceTemplates = {}, prompts = {} },
  }
  servers[name] = server
  order[#order + 1] = name
  changed("servers_updated", name)
  return server
end

---@param server lathe.native.Server
---@param list string
---@param def table
local function insert(server, list, def)
  local items = server.capabilities[list]
  items[#items + 1] = def
  changed(events[list], server.name)
end

---@param server lathe.native.Server
---@param list string
---@param id string
---@return integer? at
local function find(server, list, id)
  for i, item in ipairs(server.capabilities[list]) do
    if item[validate.keys[list]] == id then
      return i
    end
  end
end

---@param server lathe.native.Server
---@param def table
---@param is_configured boolean
local function fill(server, def, is_configured)
  for _, list in ipairs(validate.lists) do
    for _, item in ipairs(def.capabilities and def.capabilities[list] or {}) do
      -- What was added by a call stays.
      if not find(server, list, item[validate.keys[list]]) then
        insert(server, list, item)
        configured[item] = is_configured or nil
      end
    end
  end
end

---Takes away what an earlier `setup` gave.
local function forget_configured()
  for i = #order, 1, -1 do
    local server = servers[order[i]]
    local is_empty = true
    for list, items in pairs(server.capabilities) do
      for k = #items, 1, -1 do
        if configured[items[k]] then
          table.remove(items, k)
          changed(events[list], server.name)
        end
      end
      is_empty = is_empty and items[1] == nil
    end
    if is_empty and configured[server] then
      servers[server.name] = nil
      table.remove(order, i)
      changed("servers_updated", server.name)
    end
    configured[server] = nil
  end
end

---@param name string
---@param given any
---@return any def
local function load_def(name, given)
  if given ~= true then
    return given
  end
  local ok, def = pcall(require, "lathe.native.servers." .. name)
  return ok and def or nil
end

---@param all table<string, any>
local function load_configured(all)
  local names = vim.tbl_keys(all)
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  local faults = {}
  for _, name in ipairs(names) do
    local path = "native.servers." .. tostring(name)
    local def = load_def(name, all[name])
    local found = validate.server(name, def, path)
    if def == nil then
      found[1] = validate.fault("INVALID_DEFINITION", path, "there is no built-in server of this name")
    end
    if found[1] then
      vim.list_extend(faults, found)
    else
      local server = servers[name] or create(name, def)
      configured[server] = true
      fill(server, def, true)
    end
  end
  if faults[1] then
    local lines = vim.tbl_map(tostring, faults)
    notify.error("native servers with faults are left out:\n" .. table.concat(lines, "\n"))
  end
end

---Brings the servers up to date with the configuration.
function M.sync()
  local current = config.get().native
  if current == synced then
    return
  end
  local first = synced == nil
  synced = current
  M.version = M.version + 1
  if not first then
    forget_configured()
  end
  load_configured(current.servers)
  for name, server in pairs(servers) do
    server.status = server_status.first(name)
  end
end

---@param name string
---@return lathe.native.Server?
function M.get(name)
  M.sync()
  return servers[name]
end

---All servers, in the order of registration.
---@return lathe.native.Server[]
function M.all()
  M.sync()
  local list = {}
  for i, name in ipairs(order) do
    list[i] = servers[name]
  end
  return list
end

---Whether there may be any server, without looking at them.
---@return boolean
function M.has_any()
  return order[1] ~= nil or next(config.get().native.servers) ~= nil
end

---Tells of a fault inside of a schema: whoever registers a tool seldom looks at what comes back, and it would be missing.
---@param server any
---@param def any of the tool; nil: the place in the fault tells it
---@param fault lathe.native.Fault
local function tell_schema(server, def, fault)
  if fault.is_inner then
    local tool = def and ("the tool %q of "):format(tostring(def.name)) or ""
    notify.error(("%sthe native server %q is left out: %s"):format(tool, tostring(server), tostring(fault)))
  end
end

---Registers a server.
---@param name string
---@param def lathe.native.ServerDef?
---@return lathe.native.Server?
---@return lathe.native.Fault?
function M.add_server(name, def)
  local faults = validate.server(name, def, "")
  if faults[1] then
    tell_schema(name, nil, faults[1])
    return nil, faults[1]
  end
  local known = M.get(name)
  if known then
    return known, validate.fault("ALREADY_EXISTS", "name", ("there is a server %q"):format(name))
  end
  local server = create(name, def)
  fill(server, def or {}, false)
  return server
end

---Registers a tool, a resource, a template or a prompt; makes the server when there is none.
---@param list "tools"|"resources"|"resourceTemplates"|"prompts"
---@param name string
---@param def table
---@param opts { replace: boolean? }?
---@return lathe.native.Server?
---@return lathe.native.Fault?
function M.add_item(list, name, def, opts)
  local faults = validate.server(name, nil, "")
  if not faults[1] then
    validate.item(list, def, "", faults)
  end
  if faults[1] then
    tell_schema(name, def, faults[1])
    return nil, faults[1]
  end
  local server = M.get(name) or create(name)
  local key = validate.keys[list]
  local at = find(server, list, def[key])
  if not at then
    insert(server, list, def)
  elseif type(opts) == "table" and opts.replace then
    server.capabilities[list][at] = def
    changed(events[list], name)
  else
    return nil, validate.fault("DUPLICATE", key, ("%q is in the server %q already"):format(def[key], name))
  end
  return server
end

---@param name string
---@return boolean removed
function M.remove_server(name)
  local server = M.get(name)
  if not server then
    return false
  end
  servers[name] = nil
  order = vim.tbl_filter(function(other)
    return other ~= name
  end, order)
  changed("servers_updated", name)
  changed("tool_list_changed", name)
  return true
end

---@param name string
---@param tool string
---@return boolean removed
function M.remove_tool(name, tool)
  local server = M.get(name)
  local at = server and find(server, "tools", tool)
  if not server or not at then
    return false
  end
  table.remove(server.capabilities.tools, at)
  changed("tool_list_changed", name)
  return true
end

---@param name string
---@param status "connected"|"disabled"
---@param opts { persist: boolean? }?
---@return boolean
---@return string? err
function M.set_status(name, status, opts)
  local server = M.get(name)
  if not server then
    return false, ("there is no native server %s"):format(vim.inspect(name))
  end
  if server.status ~= status then
    server.status = status
    changed("servers_updated", name)
    changed("tool_list_changed", name)
  end
  local err = type(opts) == "table" and opts.persist and server_status.persist(name, status == "disabled") or nil
  return err == nil, err
end

local disabled_lists = {
  tools = "disabled_tools",
  prompts = "disabled_prompts",
  resources = "disabled_resources",
  resourceTemplates = "disabled_resourceTemplates",
}

---Whether an item may be used.
---@param server lathe.native.Server
---@param list string
---@param id string
---@return boolean
function M.is_enabled(server, list, id)
  local disabled = server_status.settings(server.name)[disabled_lists[list]]
  return server.status == "connected" and not (disabled and vim.list_contains(disabled, id))
end

---An item of a server.
---@param server lathe.native.Server
---@param list "tools"|"resources"|"resourceTemplates"|"prompts"
---@param id string
---@return table? def
function M.item(server, list, id)
  local at = find(server, list, id)
  return at and server.capabilities[list][at] or nil
end

return M
