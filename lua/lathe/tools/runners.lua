-- Who runs an entry of `cmds`: Lua a function, a shell a command, the library a built-in, another program the rest.
local M = {}

local forms = require("lathe.tools.function_forms")

---@type lathe.CmdRunner
M.LUA = { runner = "lua" }
---@type lathe.CmdRunner
M.COMMAND = { runner = "command" }

---@param entry any
---@return lathe.CmdRunner
function M.of(entry)
  if forms.is_callable(entry) then
    return M.LUA
  elseif type(entry) == "table" and type(entry.built_in) == "string" then
    return { runner = "built_in", name = entry.built_in }
  elseif type(entry) == "table" and type(entry.remote) == "string" then
    return { runner = "remote", name = entry.remote }
  end
  return M.COMMAND
end

---@param cmds any[]
---@return lathe.CmdRunner[]
function M.list(cmds)
  local list = {}
  for i = 1, #cmds do
    list[i] = M.of(cmds[i])
  end
  return list
end

---Whether any of them is run outside of Lua by somebody who gets the call's arguments.
---@param cmds any
---@return boolean
function M.need_arguments(cmds)
  for _, entry in ipairs(type(cmds) == "table" and cmds or {}) do
    local runner = M.of(entry)
    if runner ~= M.LUA and runner ~= M.COMMAND then
      return true
    end
  end
  return false
end

return M
