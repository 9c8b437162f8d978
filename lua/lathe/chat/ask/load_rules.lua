-- The permission rules of a chat: from where they are loaded before a request or a call, and what is told about them.
-- What they mean is decided in the library.
local M = {}

local config = require("lathe.config")
local core = require("lathe.core")
local notify = require("lathe.notify")
local permission = require("lathe.permission")

-- What was told already: files are read before each request, their faults are told once.
local told = {} ---@type table<string, true>

---@return string
local function config_home()
  local given = vim.env.XDG_CONFIG_HOME
  return given and given ~= "" and given or vim.fs.joinpath(vim.uv.os_homedir(), ".config")
end

---Where the rules of a folder and an agent come from.
---@param cwd string
---@param agent string
---@return table fields for the library
---@return string[] problems of `setup`
function M.sources(cwd, agent)
  local rules, problems = permission.rules(config.get())
  local fields = {
    session = cwd,
    home = vim.uv.os_homedir(),
    config_home = config_home(),
    readable = { vim.fs.joinpath(vim.fn.stdpath("state"), "lathe", "output") },
    rules = rules,
    environment = vim.env.LATHE_PERMISSION,
    agent = agent,
  }
  return fields, problems
end

---@param problems string[]
local function tell(problems)
  local new = {}
  for _, problem in ipairs(problems) do
    if not told[problem] then
      told[problem] = true
      new[#new + 1] = problem
    end
  end
  if new[1] then
    notify.warn("permission: " .. table.concat(new, "\n"))
  end
end

---The key that rules know a tool by.
---@param tool lathe.Tool?
---@param name string
---@return string
function M.key(tool, name)
  local declared = tool and type(tool.permission) == "table" and tool.permission.key
  return type(declared) == "string" and declared or name
end

---Loads the rules of a chat; the library has them when `callback` is called.
---@param chat lathe.Chat
---@param callback fun(message: string?) nil: they are loaded
function M.load(chat, callback)
  local fields = M.sources(chat.cwd, chat.agent)
  fields.chat = chat.id
  fields.tools = {}
  for i, one in ipairs(chat.tool_registry:reachable()) do
    fields.tools[i] = { name = one.name, key = M.key(one.found.tool, one.name) }
  end
  core.ask("load_permissions", fields, function(answer, message)
    if answer then
      tell(answer.problems) -- those of `setup` were told by it
      chat.tool_registry:hide(answer.hidden)
    end
    callback(message)
  end)
end

return M
