-- Where tools come from: a list of sources, and the one generation that moves with whatever any of them does. What is
-- in them is looked up in `tools/init.lua`.
local M = {}

local log = require("lathe.log")
local readable = require("lathe.readable").text

---One place where tools come from. Only `resolve` and `refresh` may call what authors wrote, and none may wait.
---@class lathe.Source
---@field name string as messages call it
---@field list fun(chat: lathe.Chat?): lathe.SourceList what there is; a list that was given out stays as it is
---@field resolve fun(name: string, chat: lathe.Chat?, is_quiet: boolean?): lathe.FoundTool?, lathe.Fault? what runs
---@field refresh fun(name: string?) looks again at what changes silently; nil: what was seen no longer counts
---@field version fun(chat: lathe.Chat?): integer another one whenever `list` has changed
---@field status fun(): lathe.SourceStatus

---@class lathe.SourceStatus
---@field state "starting"|"ready"|"failed"
---@field message string? why it failed

---@class lathe.SourceList
---@field tools lathe.ListedTool[]
---@field groups lathe.ListedGroup[]

---What a list says of a tool.
---@class lathe.ListedTool
---@field name string
---@field kind string who made it, as lists and events tell it
---@field source lathe.Source? filled in by `tools/init.lua`
---@field enabled? boolean|fun(adapter: lathe.Adapter?): boolean?
---@field off? string why nobody can use it
---@field is_visible? boolean it is offered when a name is typed
---@field description? string
---@field place? string what is told where there is no description
---@field is_loaded? boolean its definition can be had without reading a file
---@field gives_way? boolean while it is not enabled the next source's tool of that name counts
---@field server? string
---@field via? string the tool by which it can be called although it is not in use
---@field is_hidden? boolean it is in no list: only a call of it is told why it is refused
---@field code? string with which such a call ends

---@class lathe.ListedGroup
---@field name string
---@field group lathe.ToolGroup? nil: no group of this name counts
---@field is_live? boolean a chat that uses it has whatever members it has at each request
---@field source lathe.Source? filled in by `tools/init.lua`

---A tool that can be used.
---@class lathe.FoundTool
---@field tool lathe.Tool? nil: only the provider runs it
---@field provider lathe.AdapterTool? the provider knows it, and it is told what the adapter says of it
---@field schema table? as adapters' hooks see it; nil: the tool's
---@field runs { name: string?, path: any, whose: string }? the tool that runs its part here
---@field kind string
---@field listed lathe.ListedTool

-- In the order in which they count: of two tools of one name the first is taken. A new source is a file and a line
-- here.
---@type lathe.Source[]
local sources = {
  require("lathe.tools.sources.adapter_tools"),
  require("lathe.tools.sources.registered_tools"),
  require("lathe.tools.sources.configured_tools"),
  require("lathe.tools.sources.native_servers"),
}

local failures = setmetatable({}, { __mode = "k" }) ---@type table<lathe.Source, string> what a source threw

---Calls a function of a source. One that throws has failed until it works again.
---@param source lathe.Source
---@param what "list"|"resolve"|"refresh"|"version"|"status"
---@param ... any
---@return any
---@return any
function M.call(source, what, ...)
  local ok, first, second = pcall(source[what], ...)
  if ok then
    if what == "list" then
      failures[source] = nil
    end
    return first, second
  end
  local message = ("%s failed: %s"):format(what, readable(first))
  if failures[source] ~= message then
    failures[source] = message
    log.error(("the source %s: %s"):format(source.name, message))
  end
end

---@return lathe.Source[] not to be written to
function M.all()
  return sources
end

---Adds a source behind the others.
---@param source lathe.Source
function M.add(source)
  vim.validate("source", source, "table")
  vim.validate("source.name", source.name, "string")
  for _, name in ipairs({ "list", "resolve", "refresh", "version", "status" }) do
    vim.validate("source." .. name, source[name], "function")
  end
  sources[#sources + 1] = source
end

---How a source is.
---@param source lathe.Source
---@return lathe.SourceStatus
function M.status(source)
  local status = M.call(source, "status")
  if failures[source] or type(status) ~= "table" then
    return { state = "failed", message = failures[source] or "it has no status" }
  end
  return status
end

local generation = 0
local NOBODY = {}
local seen = setmetatable({}, { __mode = "k" }) ---@type table<table, { versions: integer[], generation: integer }>

---The generation of what a chat can be offered: another one whenever any source has changed, or the chat has another
---adapter. All chats share the counter, so no two states of anything have the same one.
---@param chat lathe.Chat?
---@return integer
function M.generation(chat)
  local key = chat and chat.adapter or NOBODY
  local known = seen[key]
  if not known then
    known = { versions = {}, generation = 0 }
    seen[key] = known
  end
  local has_moved = false
  for i, source in ipairs(sources) do
    local version = M.call(source, "version", chat) or -1
    if known.versions[i] ~= version then
      known.versions[i] = version
      has_moved = true
    end
  end
  if has_moved then
    generation = generation + 1
    known.generation = generation
  end
  return known.generation
end

return M
