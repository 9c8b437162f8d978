-- User options: the defaults, their check and the merged result. The only reader of what was given to `setup`.
local M = {}

---@param adapter lathe.Adapter?
---@return string
local function llm_name(adapter)
  if not adapter then
    return "Lathe"
  end
  local name, model = adapter.formatted_name or adapter.name, adapter.model
  if model == nil then
    model = ((adapter.schema or {}).model or {}).default
  end
  return ("Lathe (%s)"):format(type(model) == "string" and model ~= "" and name .. " · " .. model or name)
end

-- stylua: ignore
---@type lathe.Config
local defaults = {
  -- Providers: name = table | function | what `extend` makes (`:help lathe-adapters`).
  adapters = { http = {} },
  interactions = {
    chat = {
      adapter = nil,                -- a name, { name = …, model = … }, or an adapter
      roles = { user = "Me", llm = llm_name }, -- headings; each a string or function(adapter)
      system_prompt = nil,          -- string | function(ctx)
      save = true,                  -- write chats to the state folder, for `:Lathe resume`
      keymaps = {                   -- action = { modes = { n = "<CR>", i = { … } }, desc = "…" } | false
        send = { modes = { n = { "<CR>", "<C-s>" }, i = "<C-s>" }, desc = "Send the message" },
        stop = { modes = { n = "q" }, desc = "Stop the chat (while it runs)" },
        skip = { modes = { n = "gs" }, desc = "Skip the running call" },
        retry = { modes = { n = "gr" }, desc = "Send again: the last answer anew, or the one that failed" },
        edit_last = { modes = { n = "ge" }, desc = "Edit the last message and send it again" },
        auto = { modes = { n = "ga" }, desc = "Auto mode: run tools without asking, or ask again" },
        clear = { modes = { n = "gX" }, desc = "Clear the chat" },
        close = { modes = { n = "gC" }, desc = "Close the chat" },
        next_heading = { modes = { n = "]]" }, desc = "Next heading" },
        prev_heading = { modes = { n = "[[" }, desc = "Previous heading" },
        view_all = { modes = { n = "gV" }, desc = "View all of a call" },
        yank_code = { modes = { n = "gy" }, desc = "Yank a code block" },
        always_accept = { modes = { n = "g1" }, desc = "Answer: always accept" },
        accept = { modes = { n = "g2" }, desc = "Answer: accept" },
        reject = { modes = { n = "g3" }, desc = "Answer: reject this call" },
        cancel = { modes = { n = "g4" }, desc = "Answer: cancel this call and the rest" },
        help = { modes = { n = "g?" }, desc = "Show the keys" },
      },
      tools = {                     -- <name> = { path | callback | inline, description, enabled, visible, opts } | false
        run_command = {             -- what you give is merged with it, unless it is a tool of your own
          path = "lathe.tools.builtin.run_command",
          description = "Run a shell command",
          opts = {
            require_approval_before = true,
            require_cmd_approval = true, -- "Always accept" is for one command
            -- In Auto mode these run without a question: letter for letter, nothing before or after.
            safe_commands = { "date", "ls", "ls -a", "ls -l", "ls -la", "pwd", "uname -a", "whoami" },
          },
        },
        memory = {                  -- notes that the model keeps from chat to chat
          path = "lathe.tools.builtin.memory",
          description = "Keep notes from chat to chat",
          opts = {
            whitelist = {},         -- folders and files that it may use besides its own
          },
        },
        groups = {},                -- <name> = { description, tools, prompt, system_prompt, opts }
        opts = {
          auto_submit_success = true, -- send the results when no call failed
          auto_submit_errors = true, -- send the results when any call failed
          notify_on_approval = true, -- tell about a question in a chat that is not visible
          default_tools = {},       -- tools and groups of every new chat
          system_prompt = {
            enabled = true,
            replace_main_system_prompt = false,
            prompt = nil,           -- string | function({ tools = names })
          },
          tool_replacement_message = "the ${tool} tool", -- what the model reads for @{tool}
          max_parallel = 4,         -- calls of tools with opts.parallel that may overlap
          timeout = 600000,         -- ms that one call may take; false: no limit
          shell = "sh",             -- runs commands; POSIX
          keep_env = {},            -- key variables that commands may see
        },
      },
    },
    background = {
      gates = {
        judge = {                   -- asked about calls in auto mode, see `:help lathe-judge`
          enabled = true,
          adapter = nil,            -- a name, { name = …, model = … }, or an adapter; nil: the chat's
          system_prompt = nil,      -- string | function({ chat, tool })
        },
      },
    },
  },
  permission = nil,                 -- action | { key = action | { { pattern, action }, … } }
  permission_memory = "chat",       -- how long "Always accept" counts: "chat" or "project"
  tool_output = { max_lines = 2000, max_bytes = 51200, encoding = nil },
  agent = {},                       -- <name> = { permission = … }; a chat's agent is "build" unless it is told otherwise
  native = {                        -- servers written in Lua, see `:help lathe-native`
    servers = {},                   -- <name> = definition, or true for a built-in one
    settings = {},                  -- <name> = { disabled, disabled_tools, autoApprove, custom_instructions, … }
    auto_approve = false,           -- boolean | function({ action, server_name, tool_name, arguments, … })
    resource_auto_approve = true,   -- whether the model reads resources without a question
    timeout = 60000,                -- ms that a call of a server may take
    sync_timeout = 5000,            -- ms that a call without a callback is waited for
    caller_type = "lathe",          -- what handlers see as `req.caller.type`
    prefix = "",                    -- of the names that the model sees
    apply_defaults = false,         -- fill in a schema's defaults
  },
  project_tools = {},               -- tools of a project's `tools/` folder
  display = {
    icons = nil,                    -- "ascii", or state = text (see `:help lathe-icons`)
    chat = {
      window = { layout = "vertical", width = 0.45 }, -- vertical | horizontal | float | buffer | tab
      fold_output = true,
      show_reasoning = true,
    },
  },
}

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
local function check(default, given, keys, accepted, problems)
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
        check(own, value, inner, accepted, problems)
      else
        accepted[#accepted + 1] = { keys = inner, value = value }
      end
    end
  end
end

---@param value any
---@return any
local function copy(value)
  if type(value) ~= "table" then
    return value
  end
  local result = {}
  for key, item in pairs(value) do
    result[key] = copy(item)
  end
  return result
end

local accepted = {} ---@type lathe.Accepted[]
local problems = {} ---@type string[]
local current ---@type lathe.Config?

---Whether an entry of a tool says what the tool is, and not only how a built-in one is set.
---@param entry table
---@return boolean
local function is_source(entry)
  return (entry.path or entry.callback or entry.extends or entry.schema or entry.cmds) ~= nil
end

---Stores and checks options. Nothing is loaded, read or run; they are merged with the defaults when first asked for.
---@param opts lathe.Opts?
---@return string[] problems what was left out and why, one line each
function M.setup(opts)
  accepted, problems, current = {}, {}, nil
  if opts ~= nil and type(opts) ~= "table" then
    problems[1] = "setup: expected a table, got " .. type(opts)
    return problems
  end
  check(defaults, opts or {}, {}, accepted, problems)
  if opts and (opts.permission ~= nil or opts.agent ~= nil) then
    local _, wrong = require("lathe.permission").rules(M.get())
    vim.list_extend(problems, wrong)
  end
  table.sort(problems)
  return problems
end

---The merged options; the defaults before `setup`. Not to be written to.
---@return lathe.Config
function M.get()
  if current then
    return current
  end
  local merged = copy(defaults)
  local tools = merged.interactions.chat.tools
  for _, option in ipairs(accepted) do
    local keys = option.keys
    local parent = merged
    for i = 1, #keys - 1 do
      parent = parent[keys[i]]
    end
    local last, value = keys[#keys], option.value
    if parent == tools and type(value) == "table" and type(tools[last]) == "table" and not is_source(value) then
      value = vim.tbl_deep_extend("force", tools[last], value) -- settings of a built-in tool
    end
    parent[last] = value -- by reference: tools are known by their identity
  end
  current = merged
  return merged
end

---What the last `setup` left out.
---@return string[]
function M.problems()
  return problems
end

return M
