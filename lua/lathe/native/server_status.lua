-- Whether a native server is disabled: by the user's settings, or by a call that was to count for later sessions as
-- well.
local M = {}

local config = require("lathe.config")
local notify = require("lathe.notify")
local shared_file = require("lathe.shared_file")

-- Made now: a server may be registered in a fast event.
local persist_path = vim.fs.joinpath(vim.fn.stdpath("state"), "lathe", "native.json")

local looked_ms = -1
local persisted = {} ---@type table<string, boolean> what `disable(name, { persist = true })` wrote
local told ---@type string? what is wrong with it

---@return table<string, any>? all
---@return string? err
local function read()
  local text, err, code = shared_file.read(persist_path)
  if code == "ENOENT" then
    return {}
  elseif not text then
    return nil, ("%s cannot be read: %s"):format(persist_path, err)
  end
  local ok, data = pcall(vim.json.decode, text)
  if not ok or type(data) ~= "table" or (data[1] ~= nil and vim.islist(data)) then
    return nil, persist_path .. " cannot be understood: mend or remove it"
  end
  return data
end

---What another Neovim wrote counts as well; many servers may be registered at once.
---@return table<string, boolean>
local function read_persisted()
  if looked_ms ~= vim.uv.now() then
    looked_ms = vim.uv.now()
    local all, err = read()
    persisted = all or persisted
    if err and told ~= err then
      notify.error("which native servers are disabled is not known: " .. err)
    end
    told = err
  end
  return persisted
end

---Writes down whether a server is disabled.
---@param name string
---@param is_disabled boolean
---@return string? err
function M.persist(name, is_disabled)
  local lock_err, err = shared_file.locked(persist_path .. ".lock", function()
    local all, read_err = read()
    if not all then
      return read_err
    end
    all[name] = is_disabled
    looked_ms = -1
    return shared_file.replace(persist_path, vim.json.encode(all))
  end)
  return lock_err or err
end

---What the user has set for a server.
---@param name string
---@return table settings of `native.settings`
function M.settings(name)
  return config.get().native.settings[name] or {}
end

---What a server is when it is registered.
---@param name string
---@return "connected"|"disabled"
function M.first(name)
  local is_disabled = read_persisted()[name]
  if type(is_disabled) ~= "boolean" then
    is_disabled = M.settings(name).disabled
  end
  return is_disabled and "disabled" or "connected"
end

return M
