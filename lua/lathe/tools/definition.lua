-- A tool's definition: loaded from where its entry says, checked, and merged with what the entry sets.
local M = {}

local api = vim.api

local cmd_tool = require("lathe.tools.cmd_tool")
local function_forms = require("lathe.tools.function_forms")
local older_options = require("lathe.tools.older_options")
local schema_forms = require("lathe.schema_forms")

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

-- What a tool may have from its metatable: a class, or a table that several tools share.
local fields = {
  "name",
  "description",
  "schema",
  "cmds",
  "system_prompt",
  "env",
  "handlers",
  "output",
  "gates",
  "permission",
  "opts",
  "extends",
  "build_cmd",
}

---The fields of a tool, those that it inherits included.
---@param tool table
---@return table
local function gather(tool)
  local result = {}
  for key, value in pairs(tool) do
    result[key] = value
  end
  for _, key in ipairs(getmetatable(tool) and fields or {}) do
    if result[key] == nil then
      result[key] = tool[key]
    end
  end
  return result
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

---A function of a tool whose parameters fit no form: what it would be called with is not known.
---@param tool table
---@return string? message
function M.form_fault(tool)
  for part, names in pairs(functions) do
    for _, key in ipairs(type(tool[part]) == "table" and names or {}) do
      local value = tool[part][key]
      local wrong = value ~= nil and function_forms.misfit(key, value)
      if wrong then
        return ("%s.%s: %s"):format(part, key, wrong)
      end
    end
  end
  for i, cmd in ipairs(type(tool.cmds) == "table" and tool.cmds or {}) do
    local wrong = function_forms.is_callable(cmd) and function_forms.misfit("cmd", cmd)
    if wrong then
      return ("cmds[%d]: %s"):format(i, wrong)
    end
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
  local is_callable = function_forms.is_callable
  expect(tool.env == nil or is_callable(tool.env), "env: expected a function, got %s", type(tool.env))
  for part, names in pairs(functions) do
    local given = tool[part]
    expect(given == nil or type(given) == "table", "%s: expected a table, got %s", part, type(given))
    for _, key in ipairs(given and names or {}) do
      local value = given[key]
      expect(value == nil or is_callable(value), "%s.%s: expected a function, got %s", part, key, type(value))
    end
  end
  local message = M.form_fault(tool)
  expect(message == nil, "%s", message)
end

-- They loosen or tighten the gate for the user, so only the user's own entry counts. What an author has guarded by an older
-- name stays guarded.
local entry_only = { protect = "allowed_in_yolo_mode", require_cmd_approval = "judge_in_yolo_mode" }

---The options of a tool: those of its entry win.
---@param entry table
---@param tool table
---@param source table what its author wrote
---@return table
---@return string? notice
local function merge_opts(entry, tool, source)
  local given, own = entry.opts, tool.opts
  expect(given == nil or type(given) == "table", "opts: expected a table, got %s", type(given))
  expect(own == nil or type(own) == "table", "opts: expected a table, got %s", type(own))
  local set, names = older_options.translate(given)
  local default, own_names = older_options.translate(own)
  local opts = vim.tbl_extend("force", default, set)
  for key, older in pairs(entry_only) do
    if set[key] == nil then
      local guards = own and own[older] ~= nil and default[key] == true
      opts[key] = guards or nil
    end
  end
  local limit = opts.timeout
  expect(
    limit == nil or limit == false or (type(limit) == "number" and limit >= 1),
    "opts.timeout: expected milliseconds or false, got %s",
    vim.inspect(limit)
  )
  local notices = {
    older_options.notice(vim.list_extend(names, own_names)),
    (older_options.unknown(given, source ~= entry and source.opts or nil)),
  }
  return opts, table.concat(vim.tbl_values(notices), "; ")
end

---Makes the definition of a tool out of its entry. Throws what is wrong with it.
---@param name string
---@param entry table as in `interactions.chat.tools`
---@return lathe.Tool
---@return table source what its author wrote
---@return string? notice what the user should know of it, although it can be used
function M.build(name, entry)
  local source = load_entry(entry)
  expect(type(source) == "table", "expected a table, got %s", type(source))
  local tool = gather(source)
  local extends = tool.extends or entry.extends
  if extends ~= nil then
    expect(extends == "cmd_tool", 'extends: there is no %s, only "cmd_tool"', vim.inspect(extends))
    tool = cmd_tool.extend(name, tool)
  end
  local lifted
  tool.schema = schema_forms.with_envelope(tool.schema, name)
  check(name, tool)
  local fn = tool.schema["function"]
  local parameters, notice = schema_forms.lift_required(fn.parameters)
  if notice then
    tool.schema = vim.tbl_extend("force", {}, tool.schema)
    tool.schema["function"] = vim.tbl_extend("force", {}, fn, { parameters = parameters })
    lifted = notice
  end
  local opts, about_opts = merge_opts(entry, tool, source)
  tool.name, tool.opts, tool.cmds = name, opts, tool.cmds or {}
  tool.description = entry.description or tool.description
  local meta = getmetatable(source)
  if type(meta) == "table" and extends == nil then
    setmetatable(tool, meta)
  end
  authored[tool] = source
  local notices = vim.tbl_filter(function(text)
    return text and text ~= ""
  end, { lifted or "", about_opts or "" })
  return tool, source, notices[1] and table.concat(notices, "; ") or nil
end

---What a definition was made from: the table that its author wrote.
---@param tool lathe.Tool
---@return table?
function M.author_table(tool)
  return authored[tool]
end

return M
