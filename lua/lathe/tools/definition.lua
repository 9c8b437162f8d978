-- A tool's definition: loaded from where its entry says, checked, and merged with what the entry sets.
local M = {}

local api = vim.api

local cmd_tool = require("lathe.tools.cmd_tool")

local authored = setmetatable({}, { __mode = "k" }) ---@type table<lathe.Tool, table>

-- Loading ------------------------------------------------------------------------------------------------------------

---@param path string
---@param ... any what to call the chunk with
---@return any
local function run_file(path, ...)
  local chunk, reason = loadfile(path)
  if not chunk then
    error(reason, 0)
  end
  return chunk(...)
end

---Loads what `path` names: a module of the runtime path or of Lua's path, else a file. Never one of the working
---directory: nothing of a repository runs without trust.
---@param path string
---@return any
local function load_path(path)
  local tried = {}
  if path:find("^[%w_%-]+[%w_%-%.]*$") and not path:find("%.lua$") then
    if package.loaded[path] ~= nil or package.preload[path] then
      return require(path)
    end
    local as_file = path:gsub("%.", "/")
    for _, tail in ipairs({ ".lua", "/init.lua" }) do
      local found = api.nvim_get_runtime_file("lua/" .. as_file .. tail, false)[1]
      if found and found:sub(1, 1) == "/" then
        return require(path)
      end
    end
    local absolute = {}
    for template in package.path:gmatch("[^;]+") do
      if template:sub(1, 1) == "/" then
        absolute[#absolute + 1] = template
      end
    end
    local file = package.searchpath(path, table.concat(absolute, ";"))
    if file then
      return run_file(file, path)
    end
    tried[1] = ("module %s"):format(path)
  end
  local file = vim.fs.normalize(path)
  if file:sub(1, 1) ~= "/" then
    file = vim.fn.stdpath("config") .. "/" .. file
  end
  if vim.uv.fs_stat(file) then
    return run_file(file)
  end
  tried[#tried + 1] = file
  error(("path %q was not found; tried %s"):format(path, table.concat(tried, ", ")), 0)
end

---@param entry table
---@return any
local function load_entry(entry)
  local source = entry.callback
  if type(source) == "function" then
    return source()
  elseif type(source) == "string" then
    return load_path(source)
  elseif type(source) == "table" then
    return source
  elseif entry.path ~= nil then
    if type(entry.path) ~= "string" then
      error("path: expected a string, got " .. type(entry.path), 0)
    end
    return load_path(entry.path)
  end
  return entry
end

-- Checking -----------------------------------------------------------------------------------------------------------

local functions = {
  handlers = { "setup", "prompt_condition", "on_exit" },
  output = { "success", "error", "prompt", "rejected", "cancelled", "cmd_string" },
  gates = { "is_safe", "judge_context" },
}

---@param ok boolean
---@param format string
---@param ... any
local function expect(ok, format, ...)
  if not ok then
    error(format:format(...), 0)
  end
end

---Throws what is wrong with a definition.
---@param name string
---@param tool any
local function check(name, tool)
  expect(type(tool) == "table", "expected a table, got %s", type(tool))
  expect(tool.name == nil or tool.name == name, "name: is %s, must be as in the config", vim.inspect(tool.name))
  expect(type(tool.schema) == "table", "schema: expected a table, got %s", type(tool.schema))
  local fn = tool.schema["function"]
  expect(type(fn) == "table", 'schema["function"]: expected a table, got %s', type(fn))
  expect(fn.name == name, 'schema["function"].name: is %s, must be as in the config', vim.inspect(fn.name))
  local parameters = fn.parameters
  expect(parameters == nil or type(parameters) == "table", "parameters: expected a table, got %s", type(parameters))
  expect(tool.cmds == nil or type(tool.cmds) == "table", "cmds: expected a list, got %s", type(tool.cmds))
  expect(tool.env == nil or type(tool.env) == "function", "env: expected a function, got %s", type(tool.env))
  for part, names in pairs(functions) do
    local given = tool[part]
    expect(given == nil or type(given) == "table", "%s: expected a table, got %s", part, type(given))
    for _, key in ipairs(given and names or {}) do
      local value = given[key]
      expect(value == nil or type(value) == "function", "%s.%s: expected a function, got %s", part, key, type(value))
    end
  end
end

---Makes the definition of a tool out of its entry. Throws what is wrong with it.
---@param name string
---@param entry table as in `interactions.chat.tools`
---@return lathe.Tool
---@return table source what its author wrote
function M.build(name, entry)
  local tool = load_entry(entry)
  local source = tool
  expect(type(tool) == "table", "expected a table, got %s", type(tool))
  local extends = tool.extends or entry.extends
  if extends ~= nil then
    expect(extends == "cmd_tool", 'extends: there is no %s, only "cmd_tool"', vim.inspect(extends))
    tool = cmd_tool.extend(name, tool)
  end
  check(name, tool)
  local opts = entry.opts
  local own = tool.opts
  expect(opts == nil or type(opts) == "table", "opts: expected a table, got %s", type(opts))
  expect(own == nil or type(own) == "table", "opts: expected a table, got %s", type(own))
  opts = vim.tbl_extend("force", own or {}, opts or {})
  -- They loosen or tighten the gate for the user, so only the user's own entry counts.
  for _, key in ipairs({ "protect", "require_cmd_approval" }) do
    if not entry.opts or entry.opts[key] == nil then
      opts[key] = nil
    end
  end
  local limit = opts.timeout
  expect(
    limit == nil or limit == false or (type(limit) == "number" and limit >= 1),
    "opts.timeout: expected milliseconds or false, got %s",
    vim.inspect(limit)
  )
  local result = {} ---@type lathe.Tool
  for key, value in pairs(tool) do
    result[key] = value
  end
  result.name, result.opts, result.cmds = name, opts, tool.cmds or {}
  result.description = entry.description or tool.description
  authored[result] = source
  return result, source
end

---What a definition was made from: the table that its author wrote.
---@param tool lathe.Tool
---@return table?
function M.author_table(tool)
  return authored[tool]
end

return M
