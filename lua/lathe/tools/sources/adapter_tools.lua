-- The source of the tools that a chat's adapter brings along: its provider runs them by itself, or has a tool of the
-- configuration run their part here.
local faults = require("lathe.fault")
local provider_tools = require("lathe.adapters.provider_tools")

---@class lathe.AdapterList
---@field entries table<string, lathe.AdapterTool> as they were
---@field version integer
---@field list lathe.SourceList

local lists = setmetatable({}, { __mode = "k" }) ---@type table<lathe.Adapter, lathe.AdapterList>
local EMPTY = { tools = {}, groups = {} } ---@type lathe.SourceList

---@type lathe.Source
local M = { name = "provider" }

---@param adapter lathe.Adapter
---@return table<string, lathe.AdapterTool>
local function entries_of(adapter)
  local entries = {}
  for _, name in ipairs(provider_tools.names(adapter)) do
    entries[name] = adapter.available_tools[name]
  end
  return entries
end

---@param entries table<string, lathe.AdapterTool>
---@return lathe.SourceList
local function list_of(entries)
  local list = { tools = {}, groups = {} }
  for name, entry in pairs(entries) do
    list.tools[#list.tools + 1] = {
      name = name,
      kind = "provider",
      enabled = function(adapter)
        -- One that is wrong counts: using it says what is wrong.
        local found, message = provider_tools.find(adapter, name)
        return found ~= nil or message ~= nil
      end,
      gives_way = true,
      is_visible = not (type(entry) == "table" and vim.tbl_get(entry, "opts", "visible") == false),
      description = type(entry) == "table" and entry.description or nil,
      is_loaded = true,
    }
  end
  return list
end

---The list of an adapter, as it is now: authors and hooks may write to its table at any time.
---@param adapter lathe.Adapter
---@return lathe.AdapterList
local function look(adapter)
  local known = lists[adapter]
  local entries = entries_of(adapter)
  local is_same = known ~= nil
  for name, entry in pairs(entries) do
    is_same = is_same and known.entries[name] == entry
  end
  for name in pairs(known and known.entries or {}) do
    is_same = is_same and entries[name] ~= nil
  end
  if not is_same then
    known = { entries = entries, version = known and known.version + 1 or 1, list = list_of(entries) }
    lists[adapter] = known
  end
  return known
end

function M.version(chat)
  local adapter = chat and chat.adapter
  return adapter and look(adapter).version or 0
end

function M.list(chat)
  local adapter = chat and chat.adapter
  return adapter and look(adapter).list or EMPTY
end

function M.resolve(name, chat)
  local adapter = chat and chat.adapter
  local entry, message = provider_tools.find(adapter, name)
  if message then
    return nil, faults.new(message)
  elseif not adapter or not entry then
    return nil
  end
  local found = { provider = entry, schema = provider_tools.schema(name, entry) }
  local path = entry.opts and entry.opts.client_tool
  if path ~= nil then
    local own = type(path) == "string" and path:match("^interactions%.chat%.tools%.(.+)$") or nil
    found.runs = { name = own, path = path, whose = provider_tools.fault(adapter, name, "opts.client_tool: ") }
  end
  return found
end

function M.refresh() end

function M.status()
  return { state = "ready" }
end

return M
