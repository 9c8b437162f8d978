-- What the engine is offered with a request: the tools of a registry as one list, which the library holds. It is made
-- anew only when the registry's generation has moved, and in slices.
local M = {}

local core = require("lathe.core")
local notify = require("lathe.notify")
local readable = require("lathe.readable").text
local runners = require("lathe.tools.runners")
local schema_json = require("lathe.schema_json")

local hrtime = vim.uv.hrtime

-- How long one slice of making the list may take.
local SLICE_NS = 3e6

-- How many tools go to the library at a time.
local CHUNK = 50

---@class lathe.UsableTool
---@field name string
---@field found lathe.FoundTool
---@field by_name boolean? it can be called, but is not described in the request

---@class lathe.Listing a list that is being made
---@field usable lathe.UsableTool[]
---@field next integer
---@field used table<string, lathe.FoundTool>
---@field schemas table<string, table>
---@field set lathe.ToolSet?
---@field generation integer what it is made for

---The schema of a tool, as hooks of adapters see it.
---@param found lathe.FoundTool
---@return table
function M.schema_of(found)
  local tool = found.tool
  if found.schema or not tool then
    return found.schema or {}
  end
  -- A copy: hooks change what they get, and the definition is the author's. One that was made from text is nobody's.
  return tool.schema_text and tool.schema or vim.deepcopy(tool.schema)
end

---@param name string
---@param found lathe.FoundTool
---@param by_name boolean?
---@return lathe.OfferedTool
local function offer(name, found, by_name)
  local tool = found.tool --[[@as lathe.Tool]]
  local fn = tool.schema["function"]
  return {
    name = name,
    description = type(fn.description) == "string" and fn.description or nil,
    strict = type(fn.strict) == "boolean" and fn.strict or nil,
    schema = schema_json.text(tool),
    numeric_strings = not tool.strict_types,
    fills_defaults = tool.fills_defaults,
    server = tool.server,
    tool = tool.tool,
    routes = tool.routes,
    parallel = tool.opts.parallel == true,
    handlers_once = tool.opts.use_handlers_once == true,
    keeps_arguments = runners.need_arguments(tool.cmds),
    by_provider = found.provider ~= nil or by_name == true,
  }
end

---@param registry lathe.ToolRegistry
---@return lathe.Listing
local function begin(registry)
  return {
    usable = vim.list_extend(registry:usable(), registry:reached()),
    next = 1,
    used = {},
    schemas = {},
    generation = registry._generation,
  }
end

---Adds tools to a list, as far as time allows.
---@param listing lathe.Listing
---@param until_ns number
---@return boolean done
local function build(listing, until_ns)
  local usable = listing.usable
  repeat
    local chunk = {}
    local last = math.min(listing.next + CHUNK - 1, #usable)
    for i = listing.next, last do
      local name, found, by_name = usable[i].name, usable[i].found, usable[i].by_name
      listing.used[name] = found
      -- What only the provider runs is never called here.
      local ok, offered = true, nil
      if found.tool then
        ok, offered = pcall(offer, name, found, by_name)
      end
      if ok then
        chunk[#chunk + 1] = offered
        listing.schemas[name] = not by_name and M.schema_of(found) or nil
      else
        notify.error(('tool "%s": schema: %s'):format(name, readable(offered)))
      end
    end
    listing.next = last + 1
    listing.set = core.lib.tool_set({ base = listing.set, tools = chunk })
  until listing.next > #usable or hrtime() > until_ns
  return listing.next > #usable
end

---@param registry lathe.ToolRegistry
---@param listing lathe.Listing
local function keep(registry, listing)
  registry._listing, registry.schemas = listing, listing.schemas
end

---Whether the list of a registry says of a tool what is found now.
---@param registry lathe.ToolRegistry
---@param name string
---@param found lathe.FoundTool?
---@return boolean
function M.has(registry, name, found)
  local used = registry._listing and registry._listing.used[name]
  if not used or not found then
    return used == nil and found == nil
  end
  return used.tool == found.tool and used.provider == found.provider
end

---@param registry lathe.ToolRegistry
---@return boolean
local function is_fresh(registry)
  local listing = registry._listing
  return listing ~= nil and listing.generation == registry._generation
end

---The list of a registry.
---@param registry lathe.ToolRegistry
---@return lathe.ToolSet
function M.make(registry)
  if not is_fresh(registry) then
    local listing = begin(registry)
    build(listing, math.huge)
    keep(registry, listing)
  end
  return registry._listing.set
end

---Makes the list of a registry, in slices.
---@param registry lathe.ToolRegistry
---@param done fun() called at once when it takes one slice
function M.prepare(registry, done)
  if is_fresh(registry) then
    return done()
  end
  local listing = begin(registry)
  local function go_on()
    if not build(listing, hrtime() + SLICE_NS) then
      return vim.defer_fn(go_on, 0)
    end
    keep(registry, listing)
    if #listing.usable > CHUNK then
      return vim.defer_fn(done, 0)
    end
    done()
  end
  go_on()
end

return M
