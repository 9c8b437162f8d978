-- `require("lathe.compat.codecompanion").enable()`: code that requires CodeCompanion's modules finds ours under their names,
-- as far as tools and extensions need them. Never active by itself, and never when the real plugin is there. What a module
-- does is in the files of the folder beside this.
local M = {}

local NAME = "codecompanion"

local alias = require("lathe.compat.alias").new(NAME, "lathe-compat")

---A module with these fields; any other raises an error that names it.
---@param name string
---@param fields table
---@return table
local function module(name, fields)
  return setmetatable(fields, {
    __index = function(_, key)
      alias.unsupported(("%s.%s"):format(name, tostring(key)))
    end,
  })
end

-- Chats ---------------------------------------------------------------------------------------------------------------

---@param args table?
---@return lathe.Chat?
local function open_chat(args)
  args = args or {}
  local params = args.params or {}
  local messages, prompt = vim.list_slice(args.messages or {}), nil
  local final = messages[#messages]
  if final and final.role == "user" and not (final.opts and final.opts.visible == false) then
    prompt = table.remove(messages).content -- it stands in the input until it is sent
  end
  local adapter = args.adapter or params.adapter
  local chat = require("lathe").chat({
    adapter = type(adapter) == "table" and rawget(adapter, "_adapter") or adapter,
    model = args.model or params.model,
    tools = args.tools,
    messages = messages,
    prompt = prompt,
    submit = args.auto_submit or nil,
    hidden = args.hidden or nil,
  })
  if chat then
    chat.title = args.title
  end
  return chat
end

local function get_chat(bufnr)
  return require("lathe").get_chat(bufnr)
end

local function last_chat()
  return require("lathe").last_chat()
end

-- Setup ---------------------------------------------------------------------------------------------------------------

---Options in today's places: what was once called `strategies`, and adapters that stood there without their kind.
---@param opts table
---@return table
local function in_place(opts)
  local result = vim.tbl_extend("force", {}, opts)
  result.extensions = nil
  if type(opts.strategies) == "table" then
    local interactions = type(opts.interactions) == "table" and opts.interactions or {}
    result.interactions = vim.tbl_deep_extend("keep", interactions, opts.strategies)
    result.strategies = nil
  end
  if type(opts.adapters) == "table" then
    local http = vim.tbl_extend("force", {}, opts.adapters.http or {})
    for name, adapter in pairs(opts.adapters) do
      if name ~= "http" and name ~= "acp" and name ~= "opts" then
        http[name] = adapter
      end
    end
    result.adapters = { http = http }
  end
  return result
end

---Keys with functions of their own, which our configuration does not know.
---@param opts table
local function take_keymaps(opts)
  local keymaps = vim.tbl_get(opts, "interactions", "chat", "keymaps")
  local own = {}
  for name, keymap in pairs(type(keymaps) == "table" and keymaps or {}) do
    if type(keymap) == "table" and type(keymap.callback) == "function" then
      require(NAME .. ".config").interactions.chat.keymaps[name] = keymap
    else
      own[name] = keymap
    end
  end
  if type(keymaps) == "table" then
    opts.interactions = vim.tbl_extend("force", {}, opts.interactions)
    opts.interactions.chat = vim.tbl_extend("force", {}, opts.interactions.chat, { keymaps = own })
  end
end

---@param opts table?
local function setup(opts)
  local placed = in_place(opts or {})
  take_keymaps(placed)
  require("lathe").setup(placed)
  local config = require(NAME .. ".config")
  require("lathe.compat.codecompanion.live_config").look()
  config.extensions = type(opts) == "table" and opts.extensions or {}
  require("lathe.compat.codecompanion.load_extensions").setup(config.extensions)
end

-- What there is of the other plugin's features.
local features = {
  chat = true,
  extensions = true,
  ["function-calling"] = true,
  ["editor-context"] = true,
  mcp = true,
  tools = true,
}

---@param wanted string|string[]
---@return boolean
local function has(wanted)
  for _, feature in ipairs(type(wanted) == "table" and wanted or { wanted }) do
    if not features[feature] then
      return false
    end
  end
  return true
end

-- Modules -------------------------------------------------------------------------------------------------------------

---@param name string
---@return fun(): table
local function chats(name)
  return function()
    return module(name, { new = open_chat, buf_get_chat = get_chat, last_chat = last_chat })
  end
end

---Tells the model that the user has said no, in the words of a tool.
---@param self lathe.Tool
---@param opts { message: string?, tools: lathe.Tools, opts: { reason: string? }? }
local function rejected(self, opts)
  local text = opts.message or "The user declined to run the tool"
  local reason = opts.opts and opts.opts.reason
  opts.tools.chat:add_tool_output(self, reason and ('%s, with the reason: "%s"'):format(text, reason) or text)
end

---@type table<string, fun(): any>
local modules = {
  [NAME] = function()
    local extensions = require("lathe.compat.codecompanion.load_extensions")
    return module(NAME, {
      setup = setup,
      has = has,
      chat = open_chat,
      toggle = function()
        require("lathe").toggle()
      end,
      add = function()
        require("lathe").add()
      end,
      close_last_chat = function()
        local chat = last_chat()
        if chat then
          chat:hide()
        end
      end,
      last_chat = last_chat,
      buf_get_chat = get_chat,
      extensions = extensions.exports,
      register_extension = extensions.register,
      config = require(NAME .. ".config"),
    })
  end,
  [NAME .. ".config"] = function()
    return require("lathe.compat.codecompanion.live_config").new()
  end,
}

-- Modules whose fields stand in files of ours that hold several.
for path, part in pairs({
  adapters = { "http", "adapters" },
  ["adapters.http"] = { "http", "adapters" },
  http = { "http", "http" },
  schema = { "http", "schema" },
  utils = { "utils", "utils" },
  ["utils.util"] = { "utils", "utils" },
  ["utils.log"] = { "utils", "log" },
  ["utils.files"] = { "utils", "files" },
  ["utils.buffers"] = { "utils", "buffers" },
  ["utils.context"] = { "utils", "context" },
  ["utils.adapters"] = { "utils", "adapters" },
}) do
  local name = ("%s.%s"):format(NAME, path)
  modules[name] = function()
    return module(name, require("lathe.compat.codecompanion." .. part[1])[part[2]])
  end
end

-- What was called `strategies` is `interactions` now, and `catalog` became `builtin`; both before lay below `agents`.
for _, kind in ipairs({ "interactions", "strategies" }) do
  local chat = ("%s.%s.chat"):format(NAME, kind)
  modules[chat] = chats(chat)
  for _, tools in ipairs({ chat .. ".tools", chat .. ".agents" }) do
    -- Required for its types only, as a rule.
    modules[tools] = function()
      return module(tools, {})
    end
    modules[tools .. ".approvals"] = function()
      return require("lathe.compat.codecompanion.code_approvals")
    end
    for _, folder in ipairs({ tools .. ".builtin", tools .. ".catalog", tools .. ".tools" }) do
      modules[folder .. ".helpers"] = function()
        return module(folder .. ".helpers", { rejected = rejected })
      end
      modules[folder .. ".cmd_tool"] = function()
        return function(tool)
          return require("lathe.tools.cmd_tool").extend(tool.name, tool)
        end
      end
      for _, name in ipairs({ "run_command", "cmd_runner" }) do
        modules[("%s.%s"):format(folder, name)] = function()
          return require("lathe.tools.builtin.run_command")
        end
      end
      modules[folder .. ".memory"] = function()
        return require("lathe.tools.builtin.memory")
      end
    end
  end
end

---Gives a new chat the keys that code has put into the configuration.
---@param bufnr integer
local function set_keys(bufnr)
  local chat = get_chat(bufnr)
  local keymaps = package.loaded[NAME .. ".config"] and require("lathe.compat.codecompanion.live_config").keymaps()
    or {}
  for name, keymap in pairs(chat and keymaps or {}) do
    if type(keymap) == "table" and type(keymap.callback) == "function" then
      for mode, keys in pairs(type(keymap.modes) == "table" and keymap.modes or {}) do
        for _, lhs in ipairs(type(keys) == "table" and keys or { keys }) do
          vim.keymap.set(mode, lhs, function()
            keymap.callback(chat)
          end, { buffer = bufnr, nowait = true, silent = true, desc = keymap.description or name })
        end
      end
    end
  end
end

---From now on the modules of CodeCompanion resolve to ours, unless the real plugin is there.
function M.enable()
  if not alias.enable(modules) then
    return
  end
  require("lathe.compat.codecompanion.their_events").start()
  vim.api.nvim_create_autocmd("User", {
    group = vim.api.nvim_create_augroup("lathe.compat.codecompanion.keys", {}),
    pattern = "LatheChatCreated",
    desc = "lathe: keys that other plugins have put among those of chats",
    callback = function(event)
      set_keys(event.data.bufnr)
    end,
  })
end

return M
