-- Who is told when servers change (N-1). What changed is `store.lua`'s to say.
local M = {}

local log = require("lathe.log")
local notify = require("lathe.notify")

local listeners = {} ---@type table<string, table<function, true>>
local pending = {} ---@type table<string, table>

local known_events =
  { servers_updated = true, tool_list_changed = true, resource_list_changed = true, prompt_list_changed = true }

---@param event string
---@param data table
local function fire(event, data)
  for fn in pairs(vim.tbl_extend("force", {}, listeners[event] or {})) do
    local ok, err = pcall(fn, data)
    if not ok then
      log.error(("native: a listener of %s failed: %s"):format(event, tostring(err)))
      notify.error(("a listener of %s failed, see `:Lathe log`"):format(event))
    end
  end
end

---Something changed. Each event comes once per tick of the editor, however much has changed.
---@param event string
---@param server string
function M.fire(event, server)
  local is_first = next(pending) == nil
  local data = pending[event] or { event = event, servers = {} }
  pending[event] = data
  if not vim.list_contains(data.servers, server) then
    data.servers[#data.servers + 1] = server
  end
  if is_first then
    vim.schedule(function()
      local all = pending
      pending = {}
      for name, one in pairs(all) do
        fire(name, one)
      end
    end)
  end
end

---@param given string|string[]
---@param act fun(event: string)
local function each_event(given, act)
  for _, event in ipairs(type(given) == "table" and given or { given }) do
    if known_events[event] then
      act(event)
    else
      notify.warn(("native: there is no event %s"):format(vim.inspect(event)))
    end
  end
end

---Calls a function when something changes.
---@param given string|string[]
---@param fn fun(data: { event: string, servers: string[] })
function M.on(given, fn)
  each_event(given, function(event)
    listeners[event] = listeners[event] or {}
    listeners[event][fn] = true
  end)
end

---Calls it no more.
---@param given string|string[]
---@param fn function
function M.off(given, fn)
  each_event(given, function(event)
    if listeners[event] then
      listeners[event][fn] = nil
    end
  end)
end

return M
