-- The permission rules of `setup()` as a list in the order in which they count, and what tools need of them. What they
-- mean is the gate's business.
local M = {}

---@alias lathe.PermissionAction "allow"|"ask"|"deny"

---One rule.
---@class (exact) lathe.PermissionRule
---@field agent string? for this agent only
---@field key string
---@field pattern string
---@field action lathe.PermissionAction

local actions = { allow = true, ask = true, deny = true }

---How many characters of a pattern stand for themselves.
---@param pattern string
---@return integer
local function weight(pattern)
  return #(pattern:gsub("[*?]", ""))
end

---The pairs of a table in their order: a list of pairs as it stands; a map, which has none, from the widest pattern to
---the narrowest, so that the narrowest wins (P-32).
---@param given table
---@param path string
---@param problems string[]
---@return { [1]: string, [2]: any }[]
local function ordered(given, path, problems)
  local pairs_of = {}
  if vim.islist(given) then
    for i, item in ipairs(given) do
      if type(item) == "table" and vim.islist(item) and #item == 2 and type(item[1]) == "string" then
        pairs_of[#pairs_of + 1] = item
      else
        problems[#problems + 1] = ("%s[%d]: expected { name, action }, got %s: counts as ask"):format(
          path,
          i,
          vim.inspect(item)
        )
        pairs_of[#pairs_of + 1] = { "*", "ask" }
      end
    end
    return pairs_of
  end
  for key, value in pairs(given) do
    if type(key) == "string" then
      pairs_of[#pairs_of + 1] = { key, value }
    else
      problems[#problems + 1] = ("%s: a list of pairs and names cannot be mixed: counts as ask"):format(path)
      pairs_of[#pairs_of + 1] = { "*", "ask" }
    end
  end
  table.sort(pairs_of, function(a, b)
    local left, right = weight(a[1]), weight(b[1])
    if left ~= right then
      return left < right
    end
    return a[1] < b[1]
  end)
  return pairs_of
end

---@param value any
---@param path string
---@param problems string[]
---@return lathe.PermissionAction
local function action_of(value, path, problems)
  if actions[value] then
    return value
  end
  problems[#problems + 1] = ('%s: expected "allow", "ask" or "deny", got %s: counts as ask'):format(
    path,
    vim.inspect(value)
  )
  return "ask"
end

---Turns what was given for `permission` into rules.
---@param given any an action, or rules by key
---@param path string where it stands
---@param agent string?
---@param rules lathe.PermissionRule[] they are appended
---@param problems string[] what is wrong is appended, one line each
function M.read(given, path, agent, rules, problems)
  local function add(key, pattern, action)
    rules[#rules + 1] = { agent = agent, key = key, pattern = pattern, action = action }
  end
  if given == nil then
    return
  end
  if type(given) ~= "table" then
    return add("*", "*", action_of(given, path, problems))
  end
  for _, entry in ipairs(ordered(given, path, problems)) do
    local key, value = entry[1], entry[2]
    local key_path = path .. "." .. key
    if type(value) ~= "table" then
      add(key, "*", action_of(value, key_path, problems))
    else
      for _, item in ipairs(ordered(value, key_path, problems)) do
        add(key, item[1], action_of(item[2], key_path .. "." .. item[1], problems))
      end
    end
  end
end

---All rules of the configuration.
---@param config lathe.Config
---@return lathe.PermissionRule[] rules
---@return string[] problems
function M.rules(config)
  local rules, problems = {}, {}
  M.read(config.permission, "permission", nil, rules, problems)
  local names = vim.tbl_keys(config.agent)
  table.sort(names)
  for _, name in ipairs(names) do
    local agent = config.agent[name]
    for key in pairs(agent) do
      if key ~= "permission" then
        problems[#problems + 1] = ("agent.%s.%s: unknown option"):format(name, tostring(key))
      end
    end
    M.read(agent.permission, ("agent.%s.permission"):format(name), name, rules, problems)
  end
  return rules, problems
end

---Whether a command may run without a question: all that it would run matches one of the patterns, nothing in it writes
---a file, and all of it can be understood. For a tool's `gates.is_safe`.
---@param command any
---@param patterns any as in a permission rule: `git status`, `ls *`
---@return boolean
function M.is_safe(command, patterns)
  if type(command) ~= "string" or type(patterns) ~= "table" or not vim.islist(patterns) then
    return false
  end
  for _, pattern in ipairs(patterns) do
    if type(pattern) ~= "string" then
      return false
    end
  end
  local lib = require("lathe.core").load()
  return lib ~= nil and lib.is_safe({ text = command, patterns = patterns })
end

return M
