-- `extends = "cmd_tool"`: a tool whose only work is to run one command. The author says how the command is built; how
-- it is asked about, run and told is here.
local M = {}

local schema_forms = require("lathe.schema_forms")

---@param ok boolean
---@param format string
---@param ... any
local function expect(ok, format, ...)
  if not ok then
    error(format:format(...), 0)
  end
end

---The whole schema around its properties.
---@param name string
---@param tool table
---@return table
local function wrap(name, tool)
  local given = tool.schema
  expect(type(given) == "table", "schema: expected { properties = …, required = … }, got %s", type(given))
  if given["function"] then
    return given -- it is whole already
  elseif type(given.parameters) == "table" then
    return schema_forms.with_envelope(given, name)
  end
  local properties = given.properties
  expect(
    properties == nil or type(properties) == "table",
    "schema.properties: expected a table, got %s",
    type(properties)
  )
  local more = given.additionalProperties
  return {
    type = "function",
    ["function"] = {
      name = name,
      description = tool.description,
      parameters = {
        type = "object",
        properties = properties or {},
        required = given.required,
        additionalProperties = more ~= nil and more or false,
      },
      strict = true,
    },
  }
end

---The command that the author's function makes of the arguments.
---@param tool lathe.Tool
---@return string command
---@return string? flag
local function build(tool)
  local ok, command, flag = pcall(tool.build_cmd, tool.args)
  if not ok then
    error("build_cmd failed: " .. (type(command) == "string" and command or vim.inspect(command)), 0)
  end
  expect(type(command) == "string", "build_cmd must return the command as a string, got %s", type(command))
  expect(command:find("%S") ~= nil, "build_cmd gave an empty command")
  return command, type(flag) == "string" and flag ~= "" and flag or nil
end

---The command of a call, also of one that is not prepared.
---@param tool lathe.Tool
---@return string?
local function command_of(tool)
  local entry = type(tool.cmds) == "table" and tool.cmds[#tool.cmds]
  if type(entry) == "table" and type(entry.cmd) == "string" then
    return entry.cmd
  end
  local ok, command = pcall(build, tool)
  return ok and command or nil
end

-- What the model and the user see of the last text is the same: the command itself is in the call's line.
local defaults = {
  handlers = {
    setup = function(self)
      local command, flag = build(self)
      self.cmds[#self.cmds + 1] = { cmd = command, flag = flag }
    end,
  },
  output = {
    cmd_string = function(self)
      return command_of(self) or self.name
    end,
    prompt = function(self)
      return ("Run the command `%s`?"):format(command_of(self) or self.name)
    end,
    success = function(self, stdout, meta)
      meta.tools.chat:add_tool_output(self, { content = tostring(stdout and stdout[#stdout] or "") })
    end,
    error = function(self, stderr, meta)
      meta.tools.chat:add_tool_output(self, { content = tostring(stderr and stderr[#stderr] or "") })
    end,
    rejected = function(self, meta)
      local reason = meta.opts.reason and ": " .. meta.opts.reason or ""
      local text = ("The user rejected to run the command `%s`%s"):format(command_of(self) or self.name, reason)
      meta.tools.chat:add_tool_output(self, { content = text, display = false })
    end,
    cancelled = function(self, meta)
      local text = ("The user cancelled the command `%s`"):format(command_of(self) or self.name)
      meta.tools.chat:add_tool_output(self, { content = text, display = false })
    end,
  },
}

-- What belongs to the entry of the configuration, `opts` included: a file's `opts` do not count here.
local left_out = { opts = true, extends = true, path = true, callback = true, enabled = true, visible = true }

---Makes a whole tool of what the author has given.
---@param name string
---@param given table
---@return lathe.Tool
function M.extend(name, given)
  local builds = given.build_cmd
  expect(type(builds) == "function", "build_cmd: expected a function, got %s", type(builds))
  local description = given.description
  expect(
    description == nil or type(description) == "string",
    "description: expected a string, got %s",
    type(description)
  )
  local tool = {}
  for key, value in pairs(given) do
    if not left_out[key] then
      tool[key] = value
    end
  end
  tool.name, tool.schema, tool.cmds = given.name, wrap(name, given), {}
  for part, functions in pairs(defaults) do
    local own = given[part]
    expect(own == nil or type(own) == "table", "%s: expected a table, got %s", part, type(own))
    tool[part] = vim.tbl_extend("force", functions, own or {})
  end
  return tool
end

return M
