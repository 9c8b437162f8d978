-- Native servers: tools, resources and prompts written in Lua. The public API; what a function does is in the file of
-- its part.
local M = {}

local listeners = require("lathe.native.listeners")
local config = require("lathe.config")
local core = require("lathe.core")
local errors = require("lathe.native.error")
local log = require("lathe.log")
local notify = require("lathe.notify")
local records = require("lathe.native.records")
local mcp_group = require("lathe.native.mcp_group")
local prompts = require("lathe.native.prompt")
local resources = require("lathe.native.resource")
local handler_result = require("lathe.native.handler_result")
local handler_call = require("lathe.native.handler_call")
local store = require("lathe.native.store")

M.add_server = store.add_server
M.is_native_server = store.get
M.remove_server = store.remove_server
M.remove_tool = store.remove_tool
M.on = listeners.on
M.off = listeners.off

local kinds = {
  add_tool = "tools",
  add_resource = "resources",
  add_resource_template = "resourceTemplates",
  add_prompt = "prompts",
}
for name, kind in pairs(kinds) do
  ---Registers one; makes the server when there is none.
  ---@param server string
  ---@param def table
  ---@param opts { replace: boolean? }?
  ---@return lathe.native.Server?
  ---@return lathe.native.Fault?
  M[name] = function(server, def, opts)
    return store.add_item(kind, server, def, opts)
  end
end

---Makes a server usable.
---@param name string
---@param opts { persist: boolean? }?
---@return boolean
---@return string? err
function M.enable(name, opts)
  return store.set_status(name, "connected", opts)
end

---Takes a server away from chats; what runs of it is cancelled.
---@param name string
---@param opts { persist: boolean? }?
---@return boolean
---@return string? err
function M.disable(name, opts)
  local ok, err = store.set_status(name, "disabled", opts)
  if store.get(name) then
    handler_call.cancel_server(name, ("the server %q was disabled"):format(name))
  end
  return ok, err
end

---A copy without functions; a function of the description is called.
---@param def table
---@return table
local function plain(def)
  local copy = {}
  for key, value in pairs(def) do
    local is_dynamic = key == "description" or key == "inputSchema" or key == "arguments"
    if is_dynamic and type(value) == "function" then
      local ok, answer = pcall(value, def)
      value = ok and answer or nil
    end
    if type(value) == "table" then
      copy[key] = plain(value)
    elseif type(value) ~= "function" then
      copy[key] = value
    end
  end
  return copy
end

---The servers as plain data.
---@param opts { include_disabled: boolean? }?
---@return table[]
function M.list_servers(opts)
  local all = {}
  for _, server in ipairs(store.all()) do
    if server.status == "connected" or (opts and opts.include_disabled) then
      local copy = plain(vim.tbl_extend("force", server, { capabilities = {} }))
      for kind, items in pairs(server.capabilities) do
        copy.capabilities[kind] = {}
        for _, def in ipairs(items) do
          local id = def.uri or def.uriTemplate or def.name
          if store.is_enabled(server, kind, id) or (opts and opts.include_disabled) then
            local item = plain(def)
            item.name = item.name or id
            table.insert(copy.capabilities[kind], item)
          end
        end
      end
      all[#all + 1] = copy
    end
  end
  return all
end

-- Calls -------------------------------------------------------------------------------------------------------------

---@class lathe.native.CallOpts
---@field callback? fun(response: table?, err: lathe.native.Error?) called once, later
---@field timeout? integer ms
---@field caller? string|table what handlers see as `req.caller`
---@field parse_response? boolean

local next_id = 0

---Starts something and either hands out a handle or waits.
---@param opts lathe.native.CallOpts?
---@param start fun(done: fun(response: table?, err: lathe.native.Error?)): fun() returns what cancels it
---@return table? handle or response
---@return lathe.native.Error?
local function perform(opts, start)
  opts = opts or {}
  local is_over, response, err = false, nil, nil
  local function done(given, fault)
    if is_over then
      return
    end
    is_over, err = true, fault
    response = given and opts.parse_response and handler_result.parse(given) or given
    if opts.callback then
      local ok, message = pcall(opts.callback, response, err)
      if not ok then
        log.error("native: a callback failed: " .. tostring(message))
        notify.error("the callback of a native call failed: " .. tostring(message))
      end
    end
  end
  if opts.callback then
    next_id = next_id + 1
    return { id = next_id, cancel = start(done) }
  end
  if vim.in_fast_event() then
    return nil, errors.new("INVALID_CALL", "a call in a fast event needs a callback: it cannot be waited for")
  end
  local cancel = start(done)
  local limit = config.get().native.sync_timeout
  local is_done = vim.wait(limit, function()
    if not is_over then
      vim.cmd.redraw()
    end
    return is_over
  end, 20)
  if not is_done then
    is_over = true
    cancel()
    return nil, errors.new("TIMEOUT", ("no result after %d ms (native.sync_timeout)"):format(limit))
  end
  return response, err
end

---@param message string
---@return fun(done: fun(response: table?, err: lathe.native.Error?)): fun()
local function refuse(fault)
  return function(done)
    vim.schedule(function()
      done(nil, fault)
    end)
    return function() end
  end
end

---Calls a tool, with everything that belongs to a call: schema, approval, events.
---@param server string
---@param tool string
---@param args table?
---@param opts lathe.native.CallOpts?
---@return table? handle or response
---@return lathe.native.Error?
function M.call_tool(server, tool, args, opts)
  local fault = not vim.in_fast_event() and mcp_group.lookup_fault(server, tool) or nil
  if fault then
    return perform(opts, refuse(fault))
  elseif not vim.in_fast_event() and not core.need() then
    return perform(opts, refuse(errors.new("NOT_FOUND", "the library is not loaded, see `:checkhealth lathe`")))
  end
  return perform(opts, function(done)
    local function finish(given)
      local outcome = given.outcome
      local code = given.code or (given.status == "success" and "OK" or "ERROR")
      if outcome and (code == "OK" or code == "ERROR") then
        done(handler_result.response(outcome))
      elseif code == "OK" then
        done(handler_result.response({ code = "OK", items = {} }))
      else
        done(nil, errors.new(code, given.content, outcome and outcome.traceback))
      end
    end
    local cancel, is_cancelled = nil, false
    local function start()
      local record = records.find(server, tool)
      if is_cancelled or not record then
        return done(nil, is_cancelled and errors.new("CANCELLED", "cancelled") or mcp_group.lookup_fault(server, tool))
      end
      local run_opts = opts and { timeout = opts.timeout, caller = opts.caller } or nil
      cancel = require("lathe.chat.run_tool").start(record.name, args, finish, run_opts)
    end
    if vim.in_fast_event() then
      vim.schedule(start)
    else
      start()
    end
    return function()
      is_cancelled = true
      if cancel then
        cancel()
      end
    end
  end)
end

---@param outcome lathe.native.Outcome
---@param field "contents"|"messages"
---@param done fun(response: table?, err: lathe.native.Error?)
local function give(outcome, field, done)
  if outcome.code == "OK" then
    done({ result = { [field] = outcome.items } })
  else
    done(nil, errors.new(outcome.code, outcome.text, outcome.traceback))
  end
end

---Reads a resource.
---@param server string? nil: the first server that has it
---@param uri string
---@param opts lathe.native.CallOpts?
---@return table? handle or response `{ result = { contents } }`
---@return lathe.native.Error?
function M.access_resource(server, uri, opts)
  opts = vim.tbl_extend("force", opts or {}, { parse_response = false })
  return perform(opts, function(done)
    return resources.read(server, uri, opts, function(outcome)
      give(outcome, "contents", done)
    end)
  end)
end

---Makes the messages of a prompt.
---@param server string
---@param name string
---@param args table<string, string>?
---@param opts lathe.native.CallOpts?
---@return table? handle or response `{ result = { messages } }`
---@return lathe.native.Error?
function M.get_prompt(server, name, args, opts)
  opts = vim.tbl_extend("force", opts or {}, { parse_response = false })
  return perform(opts, function(done)
    return prompts.get(server, name, args or {}, opts, function(outcome)
      give(outcome, "messages", done)
    end)
  end)
end

return M
