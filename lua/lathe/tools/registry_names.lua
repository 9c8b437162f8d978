-- What others call what a registry does: the methods that CodeCompanion's has. They are methods of `lathe.ToolRegistry`.
---@class lathe.ToolRegistry
local Names = {}

local registered = require("lathe.tools.sources.registered_tools")
local tools = require("lathe.tools")

---Whether a table says what a tool is.
---@param entry any
---@return boolean
local function is_entry(entry)
  return type(entry) == "table" and (entry.callback or entry.path or entry.cmds or entry.extends or entry.schema) ~= nil
end

---Offers a tool.
---@param name string
---@param opts { config: table?, visible: boolean? }? config: its entry, which need not be known yet
---@return lathe.ToolRegistry? self nil: it cannot be offered, or is already
function Names:add_single_tool(name, opts)
  opts = opts or {}
  if self.in_use[name] then
    return nil
  elseif is_entry(opts.config) and not tools.look_up(name, self._chat) then
    registered.register(name, opts.config)
  end
  if self:add_tool(name) then
    return nil
  end
  if opts.visible ~= false then
    self._chat:show_context(name)
  end
  return self
end

---Offers the tools of a group.
---@param name string
---@param opts { config: table? }? config: all tools, with the group among its `groups`
---@return lathe.ToolRegistry? self nil: there is none, or it is in use
function Names:add_group(name, opts)
  local groups = opts and type(opts.config) == "table" and opts.config.groups
  local group = type(groups) == "table" and groups[name]
  if self.groups[name] then
    return nil
  elseif type(group) == "table" and not tools.group(name, self._chat) then
    registered.register_group(name, group)
  end
  if not tools.group(name, self._chat) then
    return nil
  end
  return self:add(name) and self or nil
end

---No longer offers the tools of a group.
---@param name string
function Names:remove_group(name)
  if self.groups[name] then
    self:remove(name)
  end
end

---Whether any tool is offered.
---@return boolean
function Names:loaded()
  return next(self.in_use) ~= nil
end

return Names
