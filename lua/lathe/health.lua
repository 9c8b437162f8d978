-- `:checkhealth lathe`: whether what the plugin needs is there.
local M = {}

local health = vim.health

local function check_neovim()
  if vim.fn.has("nvim-0.11") == 1 then
    health.ok("Neovim " .. tostring(vim.version()))
  else
    health.error("Neovim 0.11 or newer is needed, this is " .. tostring(vim.version()))
  end
  if pcall(vim.treesitter.language.add, "markdown") and vim.treesitter.language.add("markdown") then
    health.ok("the markdown parser is there")
  else
    health.warn("no markdown parser: chats are not highlighted")
  end
end

local function check_library()
  local core = require("lathe.core")
  local lib, message = core.load()
  if lib then
    health.ok(("library and plugin have version %s"):format(lib.version))
  else
    health.error(message --[[@as string]])
  end
end

local function check_options()
  local problems = require("lathe.config").problems()
  if #problems == 0 then
    health.ok("the options given to setup() are valid")
  end
  for _, problem in ipairs(problems) do
    health.warn(problem)
  end
  local adapter, message = require("lathe.adapters").resolve(require("lathe.config").get().interactions.chat.adapter)
  if adapter then
    local missing = require("lathe.adapters").missing_key(adapter)
    if missing then
      health.warn(("adapter %s: the variable %s is not set"):format(adapter.name, missing))
    else
      health.ok("adapter: " .. adapter.name)
    end
  else
    health.warn(message --[[@as string]])
  end
end

local function check_tools()
  local tools = require("lathe.tools")
  local good = {}
  for _, name in ipairs(tools.names()) do
    local tool, fault = tools.resolve(name, true)
    if tool or tools.group(name) then
      good[#good + 1] = name
    elseif fault then
      health.error(fault.message)
    end
    for _, member in ipairs((tools.group(name) or {}).tools or {}) do
      if not tools.is_known(member) then
        health.warn(('group "%s": there is no tool "%s"'):format(name, member))
      end
    end
  end
  for _, one in ipairs(tools.unready()) do
    if one.state == "starting" then
      health.info(("the source %s is still starting"):format(one.name))
    else
      health.error(("the source %s has failed: %s"):format(one.name, one.message or "no reason"))
    end
  end
  health.ok("tools: " .. (good[1] and table.concat(good, ", ") or "none"))
end

local function check_approvals()
  if not require("lathe.core").load() then
    return
  end
  local approvals, message = require("lathe.chat.ask.approvals").list()
  if message then
    health.warn(message)
  else
    health.ok(("approvals that are remembered: %d"):format(#approvals))
  end
end

---The nearest folder above a path that is there.
---@param path string
---@return string
local function existing(path)
  while not vim.uv.fs_stat(path) and vim.fs.dirname(path) ~= path do
    path = vim.fs.dirname(path)
  end
  return path
end

local function check_saving()
  if not require("lathe.config").get().interactions.chat.save then
    return health.info("chats are not saved: interactions.chat.save is off")
  end
  local folder = require("lathe.chat.saving").folder()
  local there = existing(folder)
  local is_folder = (vim.uv.fs_stat(there) or {}).type == "directory"
  if is_folder and vim.uv.fs_access(there, "WX") then
    health.ok("chats are saved in " .. folder)
  else
    local why = is_folder and "is not writable" or "is not a folder"
    health.warn(("chats cannot be saved in %s: %s %s"):format(folder, there, why))
  end
end

---Runs the checks.
function M.check()
  health.start("lathe")
  check_neovim()
  check_library()
  check_options()
  check_tools()
  check_approvals()
  check_saving()
  health.info("log: " .. require("lathe.log").path)
end

return M
