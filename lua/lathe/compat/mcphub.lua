-- `require("lathe.compat.mcphub").enable()`: code that says `require("mcphub").add_tool(…)` registers with our native servers.
-- Never active by itself, and never when the real plugin is there.
local M = {}

local NAME = "mcphub"

local functions = {
  "add_server",
  "add_tool",
  "add_resource",
  "add_resource_template",
  "add_prompt",
  "is_native_server",
  "on",
  "off",
}

---@param what string
local function unsupported(what)
  error(("lathe: %s is not supported by lathe.compat.mcphub; see `:help lathe-native-mcphub`"):format(what), 3)
end

---@return table
local function load()
  local native = require("lathe.native")
  local module = {}
  for _, name in ipairs(functions) do
    module[name] = function(first, ...)
      local is_new = vim.startswith(name, "add_") and not native.is_native_server(first)
      local value, err = native[name](first, ...)
      if is_new and value then
        -- Handlers that were written for the original see the caller that they know.
        value.caller_type = "codecompanion"
      end
      return value, err
    end
  end
  return setmetatable(module, {
    __index = function(_, key)
      unsupported(("%s.%s"):format(NAME, tostring(key)))
    end,
  })
end

---@return boolean
local function is_real_there()
  for _, tail in ipairs({ ".lua", "/init.lua" }) do
    if vim.api.nvim_get_runtime_file("lua/" .. NAME .. tail, false)[1] then
      return true
    end
  end
  return false
end

---@param name string
---@return function|string|nil
local function search(name)
  if name ~= NAME and not vim.startswith(name, NAME .. ".") then
    return nil
  elseif is_real_there() then
    return "\n\tlathe.compat.mcphub: the real plugin is there"
  elseif name == NAME then
    return load
  end
  return function()
    unsupported(("the module %s"):format(name))
  end
end

local enabled = false

---From now on `require("mcphub")` is ours, unless the real plugin is there.
function M.enable()
  if not enabled then
    enabled = true
    table.insert(package.loaders, search) -- the last: whatever else finds it wins
  end
end

return M
