-- Resources of native servers: which one a URI means, and reading it.
local M = {}

local config = require("lathe.config")
local core = require("lathe.core")
local errors = require("lathe.native.error")
local handler_request = require("lathe.native.handler_request")
local handler_result = require("lathe.native.handler_result")
local handler_call = require("lathe.native.handler_call")
local notify = require("lathe.notify")
local store = require("lathe.native.store")

---The servers that are meant.
---@param name string? nil: all
---@return lathe.native.Server[]
---@return lathe.native.Error?
local function candidates(name)
  local all = store.all()
  if not name then
    return all
  end
  local server = store.get(name)
  if not server then
    local names = vim.tbl_map(function(other)
      return other.name
    end, all)
    return {}, errors.new("NOT_FOUND", ("there is no server %q; %s"):format(name, errors.near(names, name)))
  elseif server.status ~= "connected" then
    return {}, errors.new("SERVER_DISABLED", ("the server %q is disabled"):format(name))
  end
  return { server }
end

---The static resources of servers that are enabled; of two with one URI the first counts, and the user is told once.
---@param servers lathe.native.Server[]?
---@return { server: lathe.native.Server, def: lathe.native.ResourceDef }[]
function M.static(servers)
  local list, seen = {}, {}
  for _, server in ipairs(servers or store.all()) do
    for _, def in ipairs(server.capabilities.resources) do
      if store.is_enabled(server, "resources", def.uri) then
        local first = seen[def.uri]
        if not first then
          seen[def.uri] = server.name
          list[#list + 1] = { server = server, def = def }
        else
          local text = "the servers %q and %q have the same resource %s; the first counts"
          notify.once(text:format(first, server.name, def.uri), "warn")
        end
      end
    end
  end
  return list
end

---What a URI means.
---@param name string? the server
---@param uri string
---@return { server: lathe.native.Server, def: table, params: table<string, string>, template: string? }?
---@return lathe.native.Error?
function M.find(name, uri)
  local servers, err = candidates(name)
  if err then
    return nil, err
  end
  local static = M.static(servers)
  for _, one in ipairs(static) do
    if one.def.uri == uri then
      return { server = one.server, def = one.def, params = {} }
    end
  end
  local templates, owners = {}, {}
  for _, server in ipairs(servers) do
    for _, def in ipairs(server.capabilities.resourceTemplates) do
      if store.is_enabled(server, "resourceTemplates", def.uriTemplate) then
        templates[#templates + 1] = def.uriTemplate
        owners[#templates] = { server = server, def = def }
      end
    end
  end
  local lib, message = core.load()
  if not lib then
    return nil, errors.new("NOT_FOUND", message --[[@as string]])
  end
  local found = templates[1] and lib.native_match({ uri = uri, templates = templates })
  if found then
    local owner = owners[found.index]
    return { server = owner.server, def = owner.def, params = found.params, template = owner.def.uriTemplate }
  end
  local uris = vim.list_extend(
    vim.tbl_map(function(one)
      return one.def.uri
    end, static),
    templates
  )
  return nil, errors.new("NOT_FOUND", ("there is no resource %s; %s"):format(uri, errors.near(uris, uri)))
end

---Looks at what a handler gave.
---@param outcome lathe.native.Outcome
---@param whose string
---@return lathe.native.Outcome
local function checked(outcome, whose)
  if outcome.code ~= "OK" then
    return outcome
  end
  local items = {}
  for i, item in ipairs(outcome.items) do
    -- Builders give the contents as MCP has them; a tool's item is taken as well.
    local is_content = type(item) == "table" and item.type == nil and item.uri ~= nil
    items[i] = is_content and { type = "resource", resource = item } or item
  end
  local good = handler_result.of_items(items, false, whose)
  if good.code == "OK" then
    good.items = vim.tbl_map(function(item)
      return item.resource or item
    end, good.items)
  end
  return good
end

---Reads a resource.
---@param name string? the server; nil: the first that has it
---@param uri string
---@param opts { chat: lathe.Chat?, caller: any, timeout: integer? }
---@param done fun(outcome: lathe.native.Outcome) later, on the main loop
---@return fun() cancel
function M.read(name, uri, opts, done)
  local found, err = M.find(name, uri)
  if not found then
    vim.schedule(function()
      done(handler_result.error(err.code, err.message))
    end)
    return function() end
  end
  local whose = ("the resource %s of the server %q"):format(uri, found.server.name)
  return handler_call.timed(
    {
      kind = "resource",
      whose = whose,
      server = found.server,
      handler = found.def.handler,
      fields = { params = found.params, resource = found.def, uri = uri, uriTemplate = found.template },
      caller = handler_request.caller(found.server, { chat = opts.chat, caller = opts.caller, auto_approve = true }),
      uri = uri,
    },
    opts.timeout or config.get().native.timeout,
    opts.chat,
    function(outcome)
      done(checked(outcome, whose))
    end
  )
end

return M
