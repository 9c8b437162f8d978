-- A source of tools as a project's tools or a remote server will be: its list arrives late, changes and fails.
---@type lathe.Source
local M = { name = "late" }

local version, tools = 0, {}
local status = { state = "starting" }

---@param name string
---@return lathe.Tool
local function build(name)
  return {
    name = name,
    schema = {
      type = "function",
      ["function"] = { name = name, description = tools[name], parameters = { type = "object" } },
    },
    cmds = {
      function()
        ran = (ran or 0) + 1 -- luacheck: ignore
        return { status = "success", data = name .. " ran" }
      end,
    },
    output = {
      success = function(self, stdout, meta)
        meta.tools.chat:add_tool_output(self, { content = stdout[#stdout] })
      end,
    },
    opts = { require_approval_before = true },
  }
end

---The list arrives, or another one: descriptions by name.
---@param descriptions table<string, string>
function M.arrive(descriptions)
  tools, status, version = descriptions, { state = "ready" }, version + 1
end

---@param message string
function M.fail(message)
  tools, status, version = {}, { state = "failed", message = message }, version + 1
end

function M.version()
  return version
end

function M.list()
  if tools.throws then
    error(tools.throws, 0)
  end
  local list, names = { tools = {}, groups = {} }, vim.tbl_keys(tools)
  table.sort(names)
  for i, name in ipairs(names) do
    list.tools[i] = { name = name, kind = "late", is_visible = true, description = tools[name] }
  end
  list.groups[1] = { name = "all_late", is_live = true, group = { description = "all of them", tools = names } }
  return list
end

local built = {} ---@type table<string, { version: integer, tool: lathe.Tool }>

function M.resolve(name)
  if not tools[name] then
    return nil
  end
  if not built[name] or built[name].version ~= version then
    built[name] = { version = version, tool = build(name) }
  end
  return { tool = built[name].tool }
end

function M.refresh() end

function M.status()
  return status
end

return M
