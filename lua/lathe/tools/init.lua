-- What tools and groups there are: what is looked up in the snapshot of all sources. Where tools come from is in
-- `sources.lua`, which of them a chat uses in `registry.lua`, how one runs in `call.lua`.
local M = {}

local faults = require("lathe.fault")
local notify = require("lathe.notify")
local readable = require("lathe.readable").text
local snapshot = require("lathe.tools.snapshot")
local sources = require("lathe.tools.sources")

M.snapshot = snapshot.of

-- Tools --------------------------------------------------------------------------------------------------------------

---Why a tool cannot be used although nothing is wrong with it.
---@param listed lathe.ListedTool
---@param chat lathe.Chat?
---@return string? reason nil: it is on
---@return boolean? failed its `enabled` threw
local function why_off(listed, chat)
  local enabled = listed.enabled
  if listed.off then
    return listed.off
  elseif type(enabled) ~= "function" then
    return enabled == false and "enabled = false" or nil
  end
  local ok, answer = pcall(enabled, chat and chat.adapter)
  if not ok then
    return "enabled failed: " .. readable(answer), true
  end
  return not answer and "enabled() says no" or nil
end

---The tool that counts under a name.
---@param name string
---@param chat lathe.Chat?
---@return lathe.ListedTool? listed
---@return string? off why it cannot be used
---@return boolean? failed its `enabled` threw
function M.look_up(name, chat)
  local last, reason ---@type lathe.ListedTool?, string?
  for _, listed in ipairs(snapshot.of(chat).tools[name] or {}) do
    local off, failed = why_off(listed, chat)
    if not (off and listed.gives_way) then
      return listed, off, failed
    end
    last, reason = listed, "enabled"
  end
  return last, reason
end

---What the source of a tool says of it; where another tool runs its part, that one's definition.
---@param listed lathe.ListedTool
---@param chat lathe.Chat?
---@param is_quiet boolean? do not tell the user
---@return lathe.FoundTool? found
---@return lathe.Fault? fault
local function resolve(listed, chat, is_quiet)
  local found, fault = sources.call(listed.source, "resolve", listed.name, chat, is_quiet)
  if not found then
    return nil, fault
  end
  local runs = found.runs
  if runs then
    local message = ("there is no %s, expected interactions.chat.tools.<name>"):format(vim.inspect(runs.path))
    local tool, why = M.resolve(runs.name, is_quiet)
    if not tool then
      return nil, faults.new(runs.whose .. (why and why.message or message), why and why.told)
    end
    found.tool = tool
  end
  found.kind, found.listed = listed.kind, listed
  return found
end

---The definition of a tool. What is wrong with one is told once, and it stays unusable until it changes.
---@param name string?
---@param is_quiet boolean? do not tell the user
---@return lathe.Tool? tool to be copied, not to be written to
---@return lathe.Fault? fault nil also when there is no such tool
function M.resolve(name, is_quiet)
  local listed = name and M.look_up(name)
  if not listed or listed.off then
    return nil
  end
  local found, fault = resolve(listed, nil, is_quiet)
  return found and found.tool, fault
end

---What a call of a tool runs, be it enabled or not.
---@param name string
---@param chat lathe.Chat?
---@param is_quiet boolean?
---@return lathe.FoundTool? found
---@return lathe.Fault? fault
---@return string? kind
function M.definition(name, chat, is_quiet)
  local listed = M.look_up(name, chat)
  if not listed or listed.off then
    return nil
  end
  local found, fault = resolve(listed, chat, is_quiet)
  return found, fault, listed.kind
end

---Which sources have no tools to list, or not those that they should have.
---@return { name: string, state: "starting"|"failed", message: string? }[]
function M.unready()
  local list = {}
  for _, source in ipairs(sources.all()) do
    local status = sources.status(source)
    if status.state ~= "ready" then
      list[#list + 1] = { name = source.name, state = status.state, message = status.message }
    end
  end
  return list
end

---Whether tools may come that nobody lists yet.
---@return boolean
function M.is_starting()
  return vim.iter(M.unready()):any(function(one)
    return one.state == "starting"
  end)
end

---What is said where there is no tool of a name: it may come yet.
---@return string text begins with a space; empty when all sources are ready
function M.excuse()
  local parts = {}
  for _, one in ipairs(M.unready()) do
    local state = one.state == "starting" and "is still starting"
      or ("has failed: %s"):format(one.message or "no reason")
    parts[#parts + 1] = (" The source %s %s."):format(one.name, state)
  end
  return table.concat(parts)
end

---A tool that a chat can offer.
---@param name string
---@param chat lathe.Chat?
---@return lathe.FoundTool? found
---@return lathe.Fault? fault why not
function M.find(name, chat)
  local listed, off, failed = M.look_up(name, chat)
  if failed then
    notify.error(('tool "%s": %s'):format(name, off))
  end
  if not listed or off then
    return nil, faults.new(('There is no tool "%s".%s'):format(name, M.excuse()))
  end
  local found, fault = resolve(listed, chat)
  return found, fault or (not found and faults.new(('There is no tool "%s".'):format(name)) or nil)
end

---What a call that was not run asked for, when it is known.
---@param name string
---@param chat lathe.Chat
---@return lathe.ListedTool?
function M.refused(name, chat)
  local all = snapshot.of(chat)
  return (all.tools[name] or {})[1] or all.hidden[name]
end

---Whether a tool, enabled or not, or a group has the name. Nothing of an author's is called but what says whether the
---provider's tool is on.
---@param name string
---@param chat lathe.Chat?
---@return boolean
function M.is_known(name, chat)
  local all = snapshot.of(chat)
  for _, listed in ipairs(all.tools[name] or {}) do
    if listed.off then
      return false
    elseif not (listed.gives_way and why_off(listed, chat)) then
      return true
    end
  end
  return M.group(name, chat) ~= nil
end

---The names of all tools, on or off, sorted.
---@param chat lathe.Chat?
---@return string[]
function M.all_names(chat)
  return snapshot.of(chat).names
end

---The names of enabled tools and of groups, sorted.
---@param visible_only boolean? leave out those with `visible = false`
---@param chat lathe.Chat? whose adapter decides
---@return string[]
function M.names(visible_only, chat)
  local all = snapshot.of(chat)
  local names = {}
  for _, name in ipairs(all.names) do
    local listed, off = M.look_up(name, chat)
    if listed and not off and (listed.is_visible or not visible_only) then
      names[#names + 1] = name
    end
  end
  for _, name in ipairs(all.group_names) do
    if not vim.list_contains(names, name) and not M.is_group_off(name, chat) then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

---What is looked at anew from now on when it is asked for: fields that are functions.
function M.refresh()
  for _, source in ipairs(sources.all()) do
    sources.call(source, "refresh")
  end
end

---Looks again at the fields of a tool that are functions.
---@param name string
---@param chat lathe.Chat
function M.refresh_tool(name, chat)
  for _, listed in ipairs(snapshot.of(chat).tools[name] or {}) do
    sources.call(listed.source, "refresh", name)
  end
end

-- Groups -------------------------------------------------------------------------------------------------------------

---A group of tools.
---@param name string
---@param chat lathe.Chat?
---@return lathe.ToolGroup? group
---@return lathe.ListedGroup? listed
function M.group(name, chat)
  local listed = snapshot.of(chat).groups[name]
  if not listed or not listed.group then
    return nil
  end
  local tool, off = M.look_up(name, chat)
  if tool and not off then
    notify.once(("both a tool and a group are called %s: the tool counts, the group is left out"):format(name), "warn")
    return nil
  end
  return listed.group, listed
end

---Whether a group has tools, and all of them are off.
---@param name string
---@param chat lathe.Chat?
---@return boolean
function M.is_group_off(name, chat)
  local group = M.group(name, chat)
  local members = group and group.tools or {}
  for _, member in ipairs(members) do
    local tool, off = M.look_up(member, chat)
    if tool and not off then
      return false
    end
  end
  return members[1] ~= nil
end

---The names of groups, sorted.
---@param chat lathe.Chat?
---@return string[]
function M.groups(chat)
  return snapshot.of(chat).group_names
end

---Whether a tool that is a member of a source's group is that source's, and not another one of the same name.
---@param name string
---@param listed lathe.ListedGroup
---@param chat lathe.Chat?
---@return boolean
function M.is_member(name, listed, chat)
  local first = (snapshot.of(chat).tools[name] or {})[1]
  return first ~= nil and first.source == listed.source
end

-- Descriptions -------------------------------------------------------------------------------------------------------

---What the user is told of a tool or group besides its name.
---@param name string
---@param may_read boolean whether its definition may be loaded for that
---@param chat lathe.Chat?
---@return string kind
---@return string? description
function M.about(name, may_read, chat)
  local group = M.group(name, chat)
  if group then
    local names = table.concat(group.tools or {}, ", ")
    return "group", group.description and ("%s (%s)"):format(group.description, names) or names
  end
  local listed = M.look_up(name, chat)
  if not listed then
    return "lua"
  elseif listed.description then
    return listed.kind, listed.description
  end
  local found = (may_read or listed.is_loaded) and resolve(listed, chat, true)
  local tool = found and found.tool
  return listed.kind, tool and (tool.description or tool.schema["function"].description) or listed.place
end

return M
