-- The configuration as CodeCompanion's has it: plain tables that other plugins walk, extend, write to and replace. What they
-- do to the tools and groups in there is found out whenever somebody asks which tools there are.
local M = {}

local config = require("lathe.config")
local log = require("lathe.log")
local registered = require("lathe.tools.sources.registered_tools")

local NAME = "codecompanion.config"

-- What is asked for and is not there: one line in the log each.
local missed = {} ---@type table<string, true>

---A table whose missing fields are nil, as those of a plain one, but noted in the log.
---@param path string
---@param fields table
---@param more (fun(key: any): any)?
---@return table
local function lenient(path, fields, more)
  return setmetatable(fields, {
    __index = function(_, key)
      local value = more and more(key)
      local name = ("%s.%s"):format(path, tostring(key))
      if value == nil and not missed[name] then
        missed[name] = true
        log.warn(name .. ": there is no such option")
      end
      return value
    end,
  })
end

-- Tools and groups ----------------------------------------------------------------------------------------------------

local own = { opts = true, groups = true } -- names among the tools that are none

local chat_table ---@type table `interactions.chat`

---@class lathe.LivePart tools or groups: what the others see, and what we know of it
---@field shadow table<string, any> what stood there when it was looked at last
---@field by_code table<string, true> what code has put there or taken away
---@field live fun(): table
---@field configured fun(): table
---@field register fun(name: string, value: any)

---@type lathe.LivePart
local tools = {
  shadow = {},
  by_code = {},
  live = function()
    return chat_table.tools
  end,
  configured = function()
    return config.get().interactions.chat.tools
  end,
  register = registered.register,
}

---@type lathe.LivePart
local groups = {
  shadow = {},
  by_code = {},
  live = function()
    local list = chat_table.tools.groups
    if type(list) ~= "table" then
      list = {}
      chat_table.tools.groups = list
    end
    return list
  end,
  configured = function()
    return config.get().interactions.chat.tools.groups
  end,
  register = registered.register_group,
}

---Takes over what code has done to a part.
---@param part lathe.LivePart
local function take_over(part)
  local live, shadow = part.live(), part.shadow
  for name, value in pairs(live) do
    if shadow[name] ~= value and not own[name] and type(name) == "string" then
      shadow[name], part.by_code[name] = value, true
      part.register(name, value)
    end
  end
  for name in pairs(shadow) do
    if live[name] == nil then
      shadow[name], part.by_code[name] = nil, true
      -- False hides one that is configured.
      local hidden
      if part.configured()[name] then
        hidden = false
      end
      part.register(name, hidden)
    end
  end
end

---Brings a part up to date with what `setup` was given; what code has done to it stays.
---@param part lathe.LivePart
local function fill(part)
  local live, shadow, configured = part.live(), part.shadow, part.configured()
  for name, value in pairs(configured) do
    if value and not own[name] and not part.by_code[name] then
      live[name], shadow[name] = value, value
    end
  end
  for name in pairs(shadow) do
    if not configured[name] and not part.by_code[name] then
      live[name], shadow[name] = nil, nil
    end
  end
end

local used ---@type lathe.Config? what the tables were filled from

-- Looking at so many tools takes time, and a request asks for each of them: it must not be most of what is done.
local MANY = 300
local SHARE = 10

local looked_ns, took_ns = 0, 0

---Takes over what code has written, and what `setup` has set since.
local function look()
  local now_ns = vim.uv.hrtime()
  if now_ns - looked_ns < took_ns * SHARE and used == config.get() then
    return
  end
  if type(chat_table.tools) ~= "table" then
    chat_table.tools = {}
  end
  take_over(tools)
  take_over(groups)
  local current = config.get()
  if used ~= current then
    used = current
    fill(tools)
    fill(groups)
    local chat = current.interactions.chat
    chat_table.tools.opts = chat.tools.opts
    chat_table.adapter, chat_table.roles = chat.adapter, chat.roles
    for name, keymap in pairs(chat.keymaps) do
      chat_table.keymaps[name] = chat_table.keymaps[name] or keymap or nil
    end
  end
  looked_ns = vim.uv.hrtime()
  took_ns = vim.tbl_count(tools.shadow) > MANY and looked_ns - now_ns or 0
end

-- Tables --------------------------------------------------------------------------------------------------------------

---Adapters by kind and, as in older versions, by name. One that is put there becomes known.
---@return table
local function adapter_table()
  local adapters = require("lathe.adapters")
  local function put(target, name, adapter)
    rawset(target, name, adapter)
    if type(name) == "string" and (type(adapter) == "table" or type(adapter) == "function") then
      adapters.register(name, adapter)
    end
  end
  local http = {}
  for name, adapter in pairs(config.get().adapters.http) do
    http[name] = adapter
  end
  for _, name in ipairs(adapters.names()) do
    http[name] = http[name] or name
  end
  setmetatable(http, { __newindex = put })
  return setmetatable({ http = http, acp = {}, opts = {} }, { __index = http, __newindex = put })
end

local interactions ---@type table

---@return table
local function current_interactions()
  look()
  return interactions
end

---@type table<string, fun(): any>
local dynamic = {
  -- What `setup` has changed since shows whenever somebody comes this way.
  interactions = current_interactions,
  strategies = current_interactions,
  adapters = adapter_table,
  display = function()
    return config.get().display
  end,
}

---Makes the module `codecompanion.config`.
---@return table
function M.new()
  chat_table = {
    tools = { groups = {} },
    keymaps = {},
    slash_commands = { opts = {} },
    editor_context = {},
    opts = {},
  }
  chat_table.variables = chat_table.editor_context -- as they were called before
  lenient(NAME .. ".interactions.chat", chat_table)
  registered.watch(look)
  look()
  interactions = lenient(NAME .. ".interactions", {
    chat = chat_table,
    inline = lenient(NAME .. ".interactions.inline", { keymaps = {}, editor_context = {}, variables = {} }),
    cmd = {},
    background = config.get().interactions.background,
    shared = { keymaps = {} },
  })
  local module = {
    constants = { USER_ROLE = "user", LLM_ROLE = "llm", SYSTEM_ROLE = "system" },
    extensions = {},
    prompt_library = {},
    rules = {},
    memory = {},
    opts = { log_level = "ERROR", send_code = true, language = "English" },
    setup = function(opts)
      require("codecompanion").setup(opts)
    end,
    can_send_code = function()
      return true
    end,
  }
  module.config = module
  return lenient(NAME, module, function(key)
    return dynamic[key] and dynamic[key]()
  end)
end

M.look = look

---The keys that code has put among those of chats.
---@return table<string, { modes: table, callback: any, description: string? }>
function M.keymaps()
  return chat_table and chat_table.keymaps or {}
end

return M
