-- `require("lathe.compat.codecompanion").enable()`: code that requires CodeCompanion's modules finds ours under their
-- names, as far as tools need them. Never active by itself, and never when the real plugin is there.
local M = {}

local NAME = "codecompanion"

local alias = require("lathe.compat.alias").new(NAME, "lathe-compat")

---A module with these fields; any other raises an error that names it.
---@param name string
---@param fields table
---@param dynamic? fun(key: any): any
---@return table
local function module(name, fields, dynamic)
  return setmetatable(fields, {
    __index = function(_, key)
      local value = dynamic and dynamic(key)
      if value ~= nil then
        return value
      end
      alias.unsupported(("%s.%s"):format(name, tostring(key)))
    end,
  })
end

-- Modules -----------------------------------------------------------------------------------------------------------

---@param args table?
---@return lathe.Chat?
local function open_chat(args)
  args = args or {}
  return (
    require("lathe").chat({
      adapter = args.adapter or (args.params and args.params.adapter),
      model = args.model or (args.params and args.params.model),
      tools = args.tools,
      messages = args.messages,
      submit = args.auto_submit,
      hidden = args.hidden,
    })
  )
end

---What other plugins read and add to: an assignment makes a tool or a group known.
---@return table
local function tools_of_config()
  local registered = require("lathe.tools.sources.registered_tools")
  local configured = require("lathe.config").get().interactions.chat.tools
  local groups = setmetatable({}, {
    __index = configured.groups,
    __newindex = function(_, name, group)
      registered.register_group(name, group)
    end,
  })
  return setmetatable({}, {
    __index = function(_, name)
      if name == "groups" then
        return groups
      elseif name == "opts" then
        return configured.opts
      end
      local entry = registered.entry(name)
      if entry == nil then
        entry = configured[name]
      end
      return entry or require("lathe.tools").resolve(name)
    end,
    __newindex = function(_, name, entry)
      registered.register(name, entry)
    end,
  })
end

---@return table
local function interactions()
  local chat = setmetatable({}, {
    __index = function(_, key)
      if key == "tools" then
        return tools_of_config()
      end
      return require("lathe.config").get().interactions.chat[key]
    end,
  })
  return module(NAME .. ".config.interactions", { chat = chat })
end

---@param level "debug"|"warn"|"error"
---@return fun(self: table, text: any, ...: any)
local function logs(level)
  return function(_, text, ...)
    local values = {}
    for i = 1, select("#", ...) do
      local value = select(i, ...)
      values[i] = type(value) == "table" and vim.inspect(value) or value
    end
    local ok, line = pcall(string.format, tostring(text), unpack(values, 1, select("#", ...)))
    require("lathe.log")[level](ok and line or tostring(text))
  end
end

---@param text any
---@param level integer? one of `vim.log.levels`
local function notify(text, level)
  local levels = vim.log.levels
  local how = (level == nil or level <= levels.INFO) and "info" or level == levels.WARN and "warn" or "error"
  require("lathe.notify")[how](tostring(text))
end

---@param event string
---@param data table?
local function fire(event, data)
  require("lathe.events").fire("CodeCompanion" .. event, data or {})
end

local function adapters()
  return module(NAME .. ".adapters", {
    extend = function(base, changes)
      return require("lathe.adapters").extend(base, changes)
    end,
  })
end

local function chats(name)
  return function()
    return module(name, {
      new = open_chat,
      buf_get_chat = function(bufnr)
        return require("lathe").get_chat(bufnr)
      end,
      last_chat = function()
        return require("lathe").last_chat()
      end,
    })
  end
end

---What each module is made of. `.strategies.` was the older name of `.interactions.`.
---@type table<string, fun(): any>
local modules = {
  [NAME] = function()
    return module(NAME, {
      setup = function(opts)
        require("lathe").setup(opts)
      end,
      chat = open_chat,
      toggle = function()
        require("lathe").toggle()
      end,
      last_chat = function()
        return require("lathe").last_chat()
      end,
      buf_get_chat = function(bufnr)
        return require("lathe").get_chat(bufnr)
      end,
    })
  end,
  [NAME .. ".config"] = function()
    return module(NAME .. ".config", {
      constants = { USER_ROLE = "user", LLM_ROLE = "llm", SYSTEM_ROLE = "system" },
    }, function(key)
      if key == "interactions" or key == "strategies" then
        return interactions()
      elseif key == "adapters" or key == "display" then
        return require("lathe.config").get()[key]
      end
    end)
  end,
  [NAME .. ".adapters"] = adapters,
  [NAME .. ".adapters.http"] = adapters,
  [NAME .. ".utils"] = function()
    return module(NAME .. ".utils", {
      notify = notify,
      fire = fire,
      capitalize = function(text)
        return (text:gsub("^%l", string.upper))
      end,
    })
  end,
  [NAME .. ".utils.log"] = function()
    return module(NAME .. ".utils.log", {
      trace = logs("debug"),
      debug = logs("debug"),
      info = logs("debug"),
      warn = logs("warn"),
      error = logs("error"),
    })
  end,
}

for _, kind in ipairs({ "interactions", "strategies" }) do
  local chat = ("%s.%s.chat"):format(NAME, kind)
  modules[chat] = chats(chat)
  -- Required for its types only, as a rule.
  modules[chat .. ".tools"] = function()
    return module(chat .. ".tools", {})
  end
  modules[chat .. ".tools.builtin.cmd_tool"] = function()
    return function(tool)
      return require("lathe.tools.cmd_tool").extend(tool.name, tool)
    end
  end
  modules[chat .. ".tools.builtin.run_command"] = function()
    return require("lathe.tools.builtin.run_command")
  end
end

---From now on the modules of CodeCompanion resolve to ours, unless the real plugin is there.
function M.enable()
  alias.enable(modules)
end

return M
