-- Whether a native server is disabled: by the user's settings, or by a call that was to count for later sessions as
-- well.
local M = {}

local config = require("lathe.config")

local persisted ---@type table<string, boolean>? what `disable(name, { persist = true })` wrote; read on first use

-- Made now: a server may be registered in a fast event.
local persist_path = vim.fs.joinpath(vim.fn.stdpath("state"), "lathe", "native.json")

---@return table<string, boolean>
local function read_persisted()
  if not persisted then
    local file = io.open(persist_path)
    local ok, data = pcall(vim.json.decode, file and file:read("*a") or "{}")
    if file then
      file:close()
    end
    persisted = ok and type(data) == "table" and data or {}
  end
  return persisted
end

---Writes down whether a server is disabled.
---@param name string
---@param is_disabled boolean
---@return string? err
function M.persist(name, is_disabled)
  local all = read_persisted()
  all[name] = is_disabled
  vim.fn.mkdir(vim.fs.dirname(persist_path), "p", 448)
  local file, err = io.open(persist_path, "w")
  if not file then
    return err
  end
  file:write(vim.json.encode(all))
  file:close()
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
  if is_disabled == nil then
    is_disabled = M.settings(name).disabled
  end
  return is_disabled and "disabled" or "connected"
end

return M
