-- The only loader of the library `lathe_core`: on first use, with one message when it cannot be had.
local M = {}

---The loaded library; nil before `load` has succeeded.
---@type lathe.Core
M.lib = nil

local failure ---@type string?

---@return string folder the plugin's root
function M.root()
  local source = debug.getinfo(1, "S").source:sub(2)
  return vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(vim.fs.abspath(source))))
end

---Where the library may be, in the order of the runtimepath. Only absolute paths: `package.cpath` names the working
---directory, and nothing of a repository may run.
---@return string[]
local function candidates()
  local own = M.root() .. "/lua/lathe_core.so"
  local found = {}
  for _, path in ipairs(vim.api.nvim_get_runtime_file("lua/lathe_core.so", true)) do
    if path:sub(1, 1) == "/" then
      found[#found + 1] = path
    end
  end
  if not vim.list_contains(found, own) then
    found[#found + 1] = own
  end
  return found
end

---@return lathe.Core? lib
---@return string[] tried one line per place, with the reason
---@return string? path of the library
local function find()
  local tried = {}
  local preset = package.loaded.lathe_core or package.preload.lathe_core
  if preset then
    local ok, lib = pcall(require, "lathe_core")
    if ok then
      return lib, tried, "package.loaded"
    end
    tried[1] = "package.preload: " .. tostring(lib)
  end
  for _, path in ipairs(candidates()) do
    if not vim.uv.fs_stat(path) then
      tried[#tried + 1] = path .. ": not there"
    else
      local open, reason = package.loadlib(path, "luaopen_lathe_core")
      local ok, lib = pcall(open or error, open and "lathe_core" or reason)
      if ok and type(lib) == "table" then
        package.loaded.lathe_core = lib
        return lib, tried, path
      end
      tried[#tried + 1] = ("%s: %s"):format(path, tostring(lib):gsub("^" .. vim.pesc(path) .. ":%s*", ""))
    end
  end
  return nil, tried
end

---@param what string
---@param lines string[]
---@return string
local function explain(what, lines)
  -- The first line alone must help: Neovim's own notifications may show no more.
  local text = { what .. ": run `make build` and restart Neovim", "  in " .. M.root() .. ", where was tried:" }
  for _, line in ipairs(lines) do
    text[#text + 1] = "  " .. line
  end
  return table.concat(text, "\n")
end

---Loads the library once. A failure is kept: every later use gets the same message.
---@return lathe.Core? lib
---@return string? message why there is none, and what to run
function M.load()
  if M.lib or failure then
    return M.lib, failure
  end
  local lib, tried, path = find()
  if not lib then
    failure = explain("no library", tried)
    return nil, failure
  end
  local version = require("lathe.version")
  if lib.version ~= version then
    local fact = ("%s has version %s, the plugin has %s."):format(path, tostring(lib.version), version)
    failure = explain("the library is of another version", { fact })
    return nil, failure
  end
  if lib.interface ~= require("lathe.interface") then
    local fact = ("%s has the same version, but was built from other sources than these."):format(path)
    failure = explain("the library does not fit these Lua files", { fact })
    return nil, failure
  end
  M.lib = lib
  vim.api.nvim_create_autocmd("VimLeavePre", {
    group = vim.api.nvim_create_augroup("lathe.core", {}),
    desc = "lathe: end what runs",
    callback = function()
      lib.shutdown()
    end,
  })
  return lib
end

local waiting = {} ---@type table<integer, fun(value: any, message: string?)> by the number of the reply

local is_answered = false

---Calls a slow export.
---@param name string
---@param fields table?
---@param callback fun(value: any, message: string?) gets what it answers, later, on the main loop; nil: what went wrong
function M.ask(name, fields, callback)
  if not is_answered then
    -- Before the first chat nobody else takes replies.
    M.lib.start_replies(function(...)
      local ok, err = pcall(M.deliver, ...)
      if not ok then
        require("lathe.log").error(tostring(err))
      end
    end)
    is_answered = true
  end
  waiting[M.lib[name](fields)] = callback
end

---The answer of a slow export.
---@param number integer
---@param value any
---@param message string?
function M.deliver(number, value, message)
  local callback = waiting[number]
  waiting[number] = nil
  if callback then
    callback(value, message)
  end
end

local told = false

---Like `load`, for what the user asked for: tells the whole failure once, later only that it is still so.
---@return lathe.Core? lib
---@return string? message
function M.need()
  local lib, message = M.load()
  if not lib then
    local short = "the library is not loaded, see `:checkhealth lathe`"
    require("lathe.notify").error(told and short or message --[[@as string]])
    told = true
  end
  return lib, message
end

return M
