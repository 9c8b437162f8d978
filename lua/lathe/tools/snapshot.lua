-- The lists of all sources as one: an immutable snapshot, made anew when the generation of the sources has moved.
local M = {}

local notify = require("lathe.notify")
local sources = require("lathe.tools.sources")

---What there is at one moment. Nobody writes to it: what has changed is in the next one.
---@class lathe.ToolSnapshot
---@field generation integer
---@field tools table<string, lathe.ListedTool[]> by name, in the order in which they count
---@field names string[] of the tools that are listed, sorted
---@field hidden table<string, lathe.ListedTool> by name
---@field groups table<string, lathe.ListedGroup>
---@field group_names string[] sorted
---@field reached table<string, string[]> by the tool that can call them by name

---@param snapshot lathe.ToolSnapshot
---@param one lathe.ListedTool
local function add_tool(snapshot, one)
  local name, known = one.name, snapshot.tools[one.name]
  if not known then
    snapshot.tools[name] = { one }
    snapshot.names[#snapshot.names + 1] = name
  else
    local first = known[1]
    if not first.gives_way and first.source.name ~= one.source.name then
      -- The user's own tool of this name wins.
      local text = "the %s tool %s is left out: a tool of this name is configured"
      notify.once(text:format(one.source.name, name), "warn")
    end
    known[#known + 1] = one
  end
  if one.via then
    local reached = snapshot.reached[one.via] or {}
    snapshot.reached[one.via] = reached
    reached[#reached + 1] = name
  end
end

---@param snapshot lathe.ToolSnapshot
---@param source lathe.Source
---@param tools lathe.ListedTool[]
local function add_tools(snapshot, source, tools)
  for _, one in ipairs(tools) do
    one.source = source
    if one.is_hidden then
      snapshot.hidden[one.name] = snapshot.hidden[one.name] or one
    else
      add_tool(snapshot, one)
    end
  end
end

---@param snapshot lathe.ToolSnapshot
---@param source lathe.Source
---@param groups lathe.ListedGroup[]
local function add_groups(snapshot, source, groups)
  for _, one in ipairs(groups) do
    if not snapshot.groups[one.name] then
      one.source = source
      snapshot.groups[one.name] = one
      if one.group then
        snapshot.group_names[#snapshot.group_names + 1] = one.name
      end
    end
  end
end

local NOBODY = {}
local snapshots = setmetatable({}, { __mode = "k" }) ---@type table<table, lathe.ToolSnapshot> by adapter

---What there is now.
---@param chat lathe.Chat? whose adapter brings tools along
---@return lathe.ToolSnapshot
function M.of(chat)
  local key = chat and chat.adapter or NOBODY
  local generation = sources.generation(chat)
  local snapshot = snapshots[key]
  if snapshot and snapshot.generation == generation then
    return snapshot
  end
  snapshot = {
    generation = generation,
    tools = {},
    names = {},
    hidden = {},
    groups = {},
    group_names = {},
    reached = {},
  }
  for _, source in ipairs(sources.all()) do
    local list = sources.call(source, "list", chat) or {}
    add_tools(snapshot, source, list.tools or {})
    add_groups(snapshot, source, list.groups or {})
  end
  table.sort(snapshot.names)
  table.sort(snapshot.group_names)
  snapshots[key] = snapshot
  return snapshot
end

return M
