-- Extensions of CodeCompanion: how they are found and set up, and what they export.
local M = {}

local log = require("lathe.log")
local notify = require("lathe.notify")
local readable = require("lathe.readable").text

local exports = {} ---@type table<string, table>

---What extensions export, by name; one that is not there exports nothing.
M.exports = setmetatable({}, {
  __index = function(_, name)
    return exports[name] or {}
  end,
})

---@param name string
---@param callback any
---@return any extension
local function load(name, callback)
  if type(callback) == "function" then
    return callback()
  elseif type(callback) == "table" then
    return callback
  elseif type(callback) == "string" then
    return require(callback)
  elseif callback ~= nil then
    error("callback: expected a module, a table or a function, got " .. type(callback), 0)
  end
  return require("codecompanion._extensions." .. name)
end

---@param name string
---@param extension any
---@param opts table?
local function start(name, extension, opts)
  if type(extension) ~= "table" or type(extension.setup) ~= "function" then
    error("expected a table with a function `setup`, got " .. type(extension), 0)
  end
  extension.setup(opts or {})
  exports[name] = extension.exports
end

---Sets an extension up. One that fails is told, and costs nobody else anything.
---@param name string
---@param find fun(): any
---@param opts table?
local function run(name, find, opts)
  local ok, err = xpcall(function()
    start(name, find(), opts)
  end, function(err)
    log.error(("extensions.%s: %s%s"):format(name, readable(err), debug.traceback("", 2)))
    return err
  end)
  if not ok then
    notify.error(("extensions.%s: %s"):format(name, vim.split(readable(err), "\n", { plain = true })[1]))
  end
end

---Sets up those of `setup({ extensions = … })`, sorted by name.
---@param given any
function M.setup(given)
  local names = type(given) == "table" and vim.tbl_keys(given) or {}
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for _, name in ipairs(names) do
    local entry = given[name]
    local is_on = type(entry) == "table" and entry.enabled ~= false
    if type(entry) == "table" and type(entry.enabled) == "function" then
      local ok, answer = pcall(entry.enabled)
      is_on = ok and answer and true or false
    end
    if is_on then
      run(tostring(name), function()
        return load(name, entry.callback)
      end, entry.opts)
    end
  end
end

---Sets up one that was not configured.
---@param name string
---@param extension { setup: fun(opts: table), exports: table? }|{ callback: any, opts: table? }
function M.register(name, extension)
  local is_entry = type(extension) == "table" and extension.setup == nil and extension.callback ~= nil
  run(name, function()
    return is_entry and load(name, extension.callback) or extension
  end, is_entry and extension.opts or nil)
end

return M
