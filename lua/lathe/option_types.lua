-- What the values of user options must be, and the check of what was given. The defaults are in `config.lua`.
local M = {}

-- What a default's own type does not say. `*` stands for any name; as a type it means that the value is checked
-- elsewhere.
-- stylua: ignore
local types = {
  ["adapters.http.*"] = "table|function|string",
  ["interactions.chat.adapter"] = "string|table|function",
  ["interactions.chat.roles.user"] = "string|function",
  ["interactions.chat.roles.llm"] = "string|function",
  ["interactions.chat.system_prompt"] = "string|function",
  ["interactions.chat.keymaps.*"] = "keys|false",
  ["interactions.chat.tools.*"] = "table|false",
  ["interactions.chat.tools.groups.*"] = "group",
  ["interactions.chat.tools.opts.default_tools"] = "names",
  ["interactions.chat.tools.opts.system_prompt.prompt"] = "string|function",
  ["interactions.chat.tools.opts.max_parallel"] = "count",
  ["interactions.chat.tools.opts.timeout"] = "positive|false",
  ["interactions.chat.tools.opts.keep_env"] = "names",
  ["interactions.background.gates.judge.adapter"] = "string|table",
  ["interactions.background.gates.judge.system_prompt"] = "string|function",
  ["permission"] = "string|table",
  ["tool_output.max_lines"] = "count",
  ["tool_output.max_bytes"] = "count",
  ["tool_output.encoding"] = "string",
  ["agent.*"] = "table",
  ["native.servers.*"] = "*",
  ["native.settings.*"] = "server_settings",
  ["native.auto_approve"] = "boolean|function",
  ["native.timeout"] = "positive",
  ["native.sync_timeout"] = "positive",
  ["project_tools.*"] = "*",
  ["display.icons"] = "icons",
  ["display.chat.window.width"] = "positive",
  ["display.chat.window.height"] = "positive",
}

---@param value any
---@return boolean
local function is_positive(value)
  return type(value) == "number" and value > 0 and value < 1e15
end

---@param value any
---@return boolean
local function is_names(value)
  return type(value) == "table"
    and vim.islist(value)
    and vim.iter(value):all(function(name)
      return type(name) == "string"
    end)
end

---@param value any
---@return boolean
local function is_text(value)
  return value == nil or type(value) == "string" or type(value) == "function"
end

-- Settings of a native server that are lists of what is turned off.
local disabled_lists =
  { disabled_tools = true, disabled_prompts = true, disabled_resources = true, disabled_resourceTemplates = true }

-- Types of our own: how a message calls them, and the check.
---@type table<string, { [1]: string, [2]: fun(value: any): boolean }>
local checks = {
  count = {
    "a whole number from 1",
    function(value)
      return is_positive(value) and value % 1 == 0
    end,
  },
  positive = { "a number above 0", is_positive },
  names = { "a list of strings", is_names },
  keys = {
    "{ modes = { <mode> = key or list of keys } }",
    function(value)
      if type(value) ~= "table" or type(value.modes) ~= "table" or not is_text(value.desc) then
        return false
      end
      for mode, keys in pairs(value.modes) do
        local list = type(keys) == "string" and { keys } or keys
        if type(mode) ~= "string" or not is_names(list) or vim.list_contains(list, "") then
          return false
        end
      end
      return true
    end,
  },
  icons = {
    '"ascii" or { <state> = text }',
    function(value)
      return value == "ascii"
        or type(value) == "table"
          and vim.iter(pairs(value)):all(function(_, icon)
            return type(icon) == "string" and not icon:find("[\r\n]")
          end)
    end,
  },
  server_settings = {
    "{ disabled = boolean, disabled_… = names, autoApprove = boolean or names, custom_instructions = { text } }",
    function(value)
      if type(value) ~= "table" then
        return false
      end
      for key, item in pairs(value) do
        local fits = false
        if key == "disabled" then
          fits = type(item) == "boolean"
        elseif key == "autoApprove" then
          fits = type(item) == "boolean" or is_names(item)
        elseif key == "custom_instructions" then
          fits = type(item) == "table" and is_text(item.text) and type(item.disabled or false) == "boolean"
        elseif disabled_lists[key] then
          fits = is_names(item)
        end
        if not fits then
          return false
        end
      end
      return true
    end,
  },
  group = {
    "{ tools = list of names, prompt = …, system_prompt = …, opts = … }",
    function(value)
      return type(value) == "table"
        and is_names(value.tools or {})
        and is_text(value.prompt)
        and is_text(value.system_prompt)
        and type(value.opts or {}) == "table"
    end,
  },
}

-- Tables with fixed names whose values are replaced whole, not merged.
local whole = { ["interactions.chat.keymaps."] = true }

-- Where any name may stand, known or not, whose value is taken as it is.
local open = { ["interactions.chat.tools."] = { opts = true, groups = true } } -- but for these

-- Options that take one of a few words.
local words = {
  permission_memory = { chat = true, project = true },
  ["display.chat.window.layout"] = { vertical = true, horizontal = true, float = true, buffer = true, tab = true },
}

---@param value any
---@param allowed string names of types, separated by `|`
---@return boolean
local function fits(value, allowed)
  local name = value == false and "false" or type(value)
  for want in allowed:gmatch("[^|]+") do
    if want == name or want == "*" or (want == "boolean" and name == "false") then
      return true
    elseif checks[want] and checks[want][2](value) then
      return true
    end
  end
  return false
end

---What a message says about a value that does not fit.
---@param allowed string
---@param value any
---@return string
local function misfit(allowed, value)
  local wanted = {}
  for want in allowed:gmatch("[^|]+") do
    wanted[#wanted + 1] = checks[want] and checks[want][1] or want
  end
  local got = type(value) == "table" and "a table" or vim.inspect(value)
  return ("expected %s, got %s"):format(table.concat(wanted, " or "), got)
end

---@alias lathe.Accepted { keys: any[], value: any }

---Walks what was given. What does not fit is named in `problems` and left out.
---@param default table
---@param given table
---@param keys any[] where both are
---@param accepted lathe.Accepted[]
---@param problems string[]
function M.check(default, given, keys, accepted, problems)
  local path = keys[1] and table.concat(keys, ".") .. "." or ""
  for key, value in pairs(given) do
    local name = path .. tostring(key)
    local own = default[key]
    if open[path] and not open[path][key] then
      own = nil
    end
    local allowed = types[name] or (own ~= nil and not whole[path] and type(own)) or types[path .. "*"]
    if allowed and type(key) ~= "string" then
      problems[#problems + 1] = name .. ": expected a name = value, got an item of a list"
    elseif not allowed or (whole[path] and own == nil) then
      problems[#problems + 1] = name .. ": unknown option"
    elseif not fits(value, allowed) then
      problems[#problems + 1] = ("%s: %s"):format(name, misfit(allowed, value))
    elseif words[name] and not words[name][value] then
      local known = vim.tbl_keys(words[name])
      table.sort(known)
      problems[#problems + 1] = ("%s: expected one of %s, got %q"):format(name, table.concat(known, ", "), value)
    else
      local inner = { unpack(keys) }
      inner[#inner + 1] = key
      if type(value) == "table" and type(own) == "table" and not checks[allowed] and not whole[path] then
        M.check(own, value, inner, accepted, problems)
      else
        accepted[#accepted + 1] = { keys = inner, value = value }
      end
    end
  end
end

return M
