-- What chats can be offered of native servers: tools under their names for the model, and groups. What makes a
-- definition good is in `validate.lua`, what runs in `handler_tool.lua`.
local M = {}

local config = require("lathe.config")
local core = require("lathe.core")
local dynamic_fields = require("lathe.native.dynamic_fields")
local notify = require("lathe.notify")
local server_status = require("lathe.native.server_status")
local store = require("lathe.native.store")

---@class lathe.native.Record
---@field name string for the model
---@field group string
---@field server lathe.native.Server
---@field def lathe.native.ToolDef
---@field description string?
---@field schema table?
---@field schema_text string?
---@field tool lathe.Tool? made of these; nil: to be made anew
---@field read_in integer? the listing for which its dynamic fields were looked at

local records = {} ---@type table<string, lathe.native.Record> by name, of what is enabled
local off = {} ---@type table<string, lathe.native.Record> of what is not
local groups = {} ---@type table<string, lathe.native.Server>
local members = {} ---@type table<string, string[]> by group, the names of its tools
local group_order = {} ---@type string[]
local known = setmetatable({}, { __mode = "k" }) ---@type table<table, lathe.native.Record> by definition
local version, used_config ---@type integer?, table?
local list ---@type lathe.SourceList? of that version
local listing = 0

-- Names ---------------------------------------------------------------------------------------------------------------

---@param server lathe.native.Server
---@param group string
---@param def lathe.native.ToolDef
---@param name string
---@return lathe.native.Record
local function record_of(server, group, def, name)
  local record = known[def]
  -- One definition in two servers is two tools.
  if not record or record.server ~= server then
    record = { server = server, def = def, name = name, group = group }
    known[def] = record
  end
  if record.name ~= name then
    record.tool = nil
  end
  record.name, record.group = name, group
  return record
end

---@param server lathe.native.Server
---@param found { group: string, tools: string, collisions: string } names, one a line
local function take_server(server, found)
  groups[found.group] = server
  group_order[#group_order + 1] = found.group
  local names, all = {}, vim.split(found.tools, "\n", { plain = true })
  for i, def in ipairs(server.capabilities.tools) do
    local record = record_of(server, found.group, def, all[i])
    if store.is_enabled(server, "tools", def.name) then
      records[record.name] = record
      names[#names + 1] = record.name
    else
      off[record.name] = record
    end
  end
  members[found.group] = names
  for name in found.collisions:gmatch("[^\n]+") do
    notify.once(
      ("server %q: another tool has the same name for the model, so this one is %s"):format(server.name, name),
      "warn"
    )
  end
end

---Brings the names up to date. False: there is no library to make them.
---@return boolean
local function update()
  if not store.has_any() and not version then
    return false
  end
  store.sync()
  local current = config.get().native
  if version == store.version and used_config == current then
    return true
  end
  local lib = core.load()
  if not lib then
    return false
  end
  local all, given = store.all(), {}
  for i, server in ipairs(all) do
    local names = { (server.name:gsub("%z", "_")) }
    for k, def in ipairs(server.capabilities.tools) do
      names[k + 1] = def.name:gsub("%z", "_")
    end
    given[i] = table.concat(names, "\0")
  end
  if used_config ~= current then
    for _, record in pairs(known) do
      record.tool = nil -- limits and the like come from there
    end
  end
  records, off, groups, members, group_order, list = {}, {}, {}, {}, {}, nil
  for i, found in ipairs(lib.native_names({ prefix = current.prefix, servers = given })) do
    take_server(all[i], found)
  end
  version, used_config = store.version, current
  return true
end

---Looks at what changes without a word.
---@param record lathe.native.Record
local function look(record)
  dynamic_fields.read(record)
  record.read_in = listing
end

---Another number whenever the list of tools may have changed.
---@return integer
function M.version()
  update()
  return store.version
end

---What is offered from now on is looked at anew.
function M.begin_listing()
  listing = listing + 1
end

---Looks at the dynamic fields of a tool, unless that was done for this listing.
---@param name string
function M.refresh(name)
  local record = update() and records[name]
  if record and (not record.read_in or (record.read_in ~= listing and dynamic_fields.are_any(record))) then
    look(record)
  end
end

-- What is there -------------------------------------------------------------------------------------------------------

---The record of a tool, enabled or not, of a server.
---@param server string
---@param tool string
---@return lathe.native.Record?
function M.find(server, tool)
  update()
  for _, all in ipairs({ records, off }) do
    for _, record in pairs(all) do
      if record.server.name == server and record.def.name == tool then
        return record
      end
    end
  end
end

---The definition of a tool, as chats run it.
---@param name string
---@return lathe.Tool?
function M.tool(name)
  local record = update() and records[name]
  if not record then
    -- Loaded on first use, as what runs tools is: most chats have no native server.
    return store.has_any() and require("lathe.native.mcp_group").tool(name) or nil
  end
  if not record.read_in then
    look(record)
  end
  if not record.tool then
    record.schema = record.schema or vim.json.decode(record.schema_text)
    record.tool = require("lathe.native.handler_tool").build(record)
  end
  return record.tool
end

---What a list says of a tool.
---@param record lathe.native.Record
---@return lathe.ListedTool
local function listed(record)
  local description = record.def.description
  return {
    name = record.name,
    kind = "native",
    is_visible = true,
    description = type(description) == "string" and description or nil,
    server = record.server.name,
    via = "use_mcp_tool",
  }
end

---The tools of a server as a group.
---@param name string
---@param server lathe.native.Server
---@return lathe.ListedGroup
local function listed_group(name, server)
  local instructions = server_status.settings(server.name).custom_instructions
  local description = server.description
  return {
    name = name,
    is_live = true,
    group = {
      description = type(description) == "string" and description ~= "" and description or server.displayName,
      tools = members[name],
      system_prompt = instructions and not instructions.disabled and instructions.text or nil,
      opts = { collapse_tools = true },
    },
  }
end

---The tools of all servers in the order of registration, and a group for each server that is enabled.
---@return lathe.SourceList
function M.list()
  if list or not update() then
    return list or { tools = {}, groups = {} }
  end
  list = { tools = {}, groups = {} }
  for _, group in ipairs(group_order) do
    for _, name in ipairs(members[group]) do
      list.tools[#list.tools + 1] = listed(records[name])
    end
    if groups[group].status == "connected" then
      list.groups[#list.groups + 1] = listed_group(group, groups[group])
    end
  end
  local mcp_group = group_order[1] and require("lathe.native.mcp_group")
  if mcp_group then
    for _, name in ipairs(mcp_group.names) do
      list.tools[#list.tools + 1] = { name = name, kind = "native", is_visible = true }
    end
  end
  if mcp_group and list.groups[1] and not groups.mcp then
    list.groups[#list.groups + 1] = { name = "mcp", is_live = true, group = mcp_group.group }
  end
  for name, record in pairs(off) do
    local is_disabled = record.server.status == "disabled"
    list.tools[#list.tools + 1] = {
      name = name,
      kind = "native",
      server = record.server.name,
      is_hidden = true,
      code = is_disabled and "SERVER_DISABLED" or "NOT_FOUND",
    }
  end
  return list
end

return M
