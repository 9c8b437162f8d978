-- Modules of another plugin that resolve to ours while that plugin is not there. Which ones, and what they hold, is
-- told by the files beside this one.
local M = {}

---@param plugin string
---@return boolean
local function is_real_there(plugin)
  for _, tail in ipairs({ ".lua", "/init.lua" }) do
    if vim.api.nvim_get_runtime_file("lua/" .. plugin .. tail, false)[1] then
      return true
    end
  end
  return false
end

---@class lathe.Alias
---@field unsupported fun(what: string) raises the error for what was asked for and is not there
---@field enable fun(modules: table<string, fun(): any>): boolean what each is made of; any other raises an error that names
---  it. False: that was done before, or the real plugin is there

---The alias of a plugin.
---@param plugin string name of its main module
---@param help string tag of the help about it
---@return lathe.Alias
function M.new(plugin, help)
  local is_enabled = false
  local function unsupported(what)
    error(("lathe: %s is not supported by lathe.compat.%s; see `:help %s`"):format(what, plugin, help), 3)
  end
  local function enable(modules)
    if is_enabled then
      return false
    end
    is_enabled = true
    -- The last: whatever else finds them wins.
    table.insert(package.loaders, function(name)
      if name ~= plugin and not vim.startswith(name, plugin .. ".") then
        return nil
      elseif is_real_there(plugin) then
        return ("\n\tlathe.compat.%s: the real plugin is there"):format(plugin)
      end
      return modules[name] or function()
        unsupported(("the module %s"):format(name))
      end
    end)
    return not is_real_there(plugin)
  end
  return { unsupported = unsupported, enable = enable }
end

return M
