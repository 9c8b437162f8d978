-- Tools that a provider runs by itself: an adapter's `available_tools`. What a request says of them is the adapter's.
local M = {}

local readable = require("lathe.readable").text

---@class lathe.FoundTool
---@field tool lathe.Tool? nil: only the provider runs it
---@field source "lua"|"builtin"|"provider"
---@field provider lathe.AdapterTool? the adapter's entry

---What a message about an adapter's tool says.
---@param adapter lathe.Adapter
---@param name string
---@param what string
---@return string
function M.fault(adapter, name, what)
  return ("adapters.http.%s.available_tools.%s: %s"):format(adapter.name, name, what)
end

---What is wrong with an entry.
---@param entry any
---@return string?
local function misfit(entry)
  if type(entry) ~= "table" then
    return "expected a table, got " .. type(entry)
  elseif type(entry.callback) ~= "function" then
    return "callback: expected a function, got " .. type(entry.callback)
  elseif entry.opts ~= nil and type(entry.opts) ~= "table" then
    return "opts: expected a table, got " .. type(entry.opts)
  end
  local prompt, enabled = entry.system_prompt, entry.enabled
  if prompt ~= nil and type(prompt) ~= "string" and type(prompt) ~= "function" then
    return "system_prompt: expected a string or a function, got " .. type(prompt)
  elseif enabled ~= nil and type(enabled) ~= "boolean" and type(enabled) ~= "function" then
    return "enabled: expected a boolean or a function, got " .. type(enabled)
  end
end

---The adapter's tool of that name, when it is turned on.
---@param adapter lathe.Adapter?
---@param name string
---@return lathe.AdapterTool? entry
---@return string? message what is wrong with it
function M.find(adapter, name)
  local available = adapter and adapter.available_tools
  local entry = type(available) == "table" and available[name] or nil
  if not adapter or not entry then
    return nil
  end
  local wrong = misfit(entry)
  if wrong then
    return nil, M.fault(adapter, name, wrong)
  elseif type(entry.enabled) ~= "function" then
    return entry.enabled ~= false and entry or nil
  end
  local ok, answer = pcall(entry.enabled, adapter)
  if not ok then
    return nil, M.fault(adapter, name, "enabled failed: " .. readable(answer))
  end
  return answer and entry or nil
end

---The names of an adapter's tools, on or off, sorted.
---@param adapter lathe.Adapter?
---@return string[]
function M.names(adapter)
  local names = {}
  for name in pairs(adapter and type(adapter.available_tools) == "table" and adapter.available_tools or {}) do
    if type(name) == "string" then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

---How an adapter's `build_tools` sees one.
---@param name string
---@param entry lathe.AdapterTool
---@return table
function M.schema(name, entry)
  return { name = name, description = entry.description, _meta = { adapter_tool = true } }
end

---What the adapter's tools add to a request. Each may change the adapter.
---@param adapter lathe.Adapter
---@param used { name: string, found: lathe.FoundTool }[]
---@return any[] entries of the body's list of tools
---@return string[] faults of those that failed, which are left out
function M.entries(adapter, used)
  local entries, faults = {}, {}
  for _, one in ipairs(used) do
    local entry = one.found.provider
    if entry then
      local own = {}
      local ok, err = pcall(entry.callback, adapter, { tools = own })
      if ok then
        vim.list_extend(entries, own)
      else
        faults[#faults + 1] = M.fault(adapter, one.name, "callback failed: " .. readable(err))
      end
    end
  end
  return entries, faults
end

return M
