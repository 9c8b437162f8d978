-- `require("lathe.compat.mcphub").enable()`: code that was written for MCPHub registers its servers with ours, and reads the
-- hub. Never active by itself, and never when the real plugin is there.
local M = {}

local NAME = "mcphub"

local alias = require("lathe.compat.alias").new(NAME, "lathe-native-mcphub")

-- Registering ---------------------------------------------------------------------------------------------------------

---Handlers that were written for the original see the caller that they know.
---@param name string
---@param known boolean whether there was a server of that name
---@param server lathe.native.Server?
local function mark(name, known, server)
  if server and not known then
    server.caller_type = "codecompanion"
  end
end

---A function of ours that registers something with a server, which it makes when there is none.
---@param fn string
---@return fun(name: string, ...: any): lathe.native.Server?, lathe.native.Fault?
local function register(fn)
  return function(name, ...)
    local native = require("lathe.native")
    local known = native.is_native_server(name) ~= nil
    local server, err = native[fn](name, ...)
    mark(name, known, server)
    return server, err
  end
end

local add_named = register("add_server")

---@param name string|table a definition that has its name in it
---@param def table?
---@return lathe.native.Server?
---@return lathe.native.Fault?
local function add_server(name, def)
  if type(name) == "table" then
    name, def = name.name, name
  end
  return add_named(name, def)
end

-- Setup ---------------------------------------------------------------------------------------------------------------

---What `setup` was given for servers that run elsewhere.
---@type { servers: table?, global_env: table?, config: string? }
M.kept = {}

local is_set_up = false

local used = { native_servers = true, auto_approve = true, on_ready = true, on_error = true, global_env = true }
used.servers, used.config = true, true

---@param opts table
local function tell_ignored(opts)
  local names = {}
  for name in pairs(opts) do
    names[#names + 1] = not used[name] and tostring(name) or nil
  end
  table.sort(names)
  if names[1] then
    require("lathe.notify").warn("mcphub.setup: without effect here: " .. table.concat(names, ", "))
  end
end

---@param servers any
local function add_servers(servers)
  local names = type(servers) == "table" and vim.tbl_keys(servers) or {}
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  local faults = {}
  for _, name in ipairs(names) do
    local def = servers[name]
    local id = type(name) == "number" and type(def) == "table" and def.name or name
    local _, err = add_named(id, def)
    if err and err.code ~= "ALREADY_EXISTS" then
      faults[#faults + 1] = ("mcphub.setup: native_servers.%s: %s"):format(tostring(name), tostring(err))
    end
  end
  if faults[1] then
    require("lathe.notify").error(table.concat(faults, "\n"))
  end
end

---@param opts table?
---@return table hub
local function setup(opts)
  local hub = require("lathe.compat.mcphub.hub")
  if is_set_up then
    return hub
  end
  is_set_up = true
  opts = opts or {}
  M.kept = { servers = opts.servers, global_env = opts.global_env, config = opts.config }
  if opts.auto_approve ~= nil then
    local problems = require("lathe.config").add({ native = { auto_approve = opts.auto_approve } })
    if problems[1] then
      require("lathe.notify").warn("mcphub.setup: " .. problems[1])
    end
  end
  add_servers(opts.native_servers)
  tell_ignored(opts)
  if type(opts.on_ready) == "function" then
    vim.schedule(function()
      local ok, err = pcall(opts.on_ready, hub)
      if not ok then
        require("lathe.notify").error("mcphub.setup: on_ready failed: " .. require("lathe.readable").text(err))
      end
    end)
  end
  return hub
end

-- Modules -------------------------------------------------------------------------------------------------------------

---@return table
local function load()
  local native = require("lathe.native")
  return setmetatable({
    setup = setup,
    add_server = add_server,
    add_tool = register("add_tool"),
    add_resource = register("add_resource"),
    add_resource_template = register("add_resource_template"),
    add_prompt = register("add_prompt"),
    is_native_server = native.is_native_server,
    on = native.on,
    off = native.off,
    get_hub_instance = function()
      return is_set_up and require("lathe.compat.mcphub.hub") or nil
    end,
    get_state = function()
      return {
        setup_state = is_set_up and "completed" or "not_started",
        hub_instance = is_set_up and require("lathe.compat.mcphub.hub") or nil,
        server_state = { servers = {}, native_servers = native.list_servers({ include_disabled = true }) },
        errors = { items = {} },
      }
    end,
  }, {
    __index = function(_, key)
      alias.unsupported(("%s.%s"):format(NAME, tostring(key)))
    end,
  })
end

---@param name string
---@return fun(): table
local function extension(name)
  return function()
    return require("lathe.compat.mcphub.other_clients")[name]()
  end
end

---From now on `require("mcphub")` is ours, unless the real plugin is there.
function M.enable()
  alias.enable({
    [NAME] = load,
    [NAME .. ".extensions.codecompanion"] = extension("codecompanion"),
    [NAME .. ".extensions.avante"] = extension("avante"),
    [NAME .. ".extensions.lualine"] = extension("lualine"),
  })
end

return M
