-- User options: the defaults, and what `setup` was given merged with them; nobody else reads that. What a value must be
-- is in `option_types.lua`.
local M = {}

local option_types = require("lathe.option_types")

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
local added = {} ---@type lathe.Accepted[] by code, besides `setup`
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
  option_types.check(defaults, opts or {}, {}, accepted, problems)
  if opts and (opts.permission ~= nil or opts.agent ~= nil) then
    local _, wrong = require("lathe.permission").rules(M.get())
    vim.list_extend(problems, wrong)
  end
  table.sort(problems)
  return problems
end

---Sets options besides `setup`, whose own win. What was set stays when `setup` is called again.
---@param opts lathe.Opts
---@return string[] problems
function M.add(opts)
  local wrong = {}
  option_types.check(defaults, opts, {}, added, wrong)
  current = nil
  return wrong
end

---The merged options; the defaults before `setup`. Not to be written to.
---@return lathe.Config
function M.get()
  if current then
    return current
  end
  local merged = copy(defaults)
  local tools = merged.interactions.chat.tools
  for _, option in ipairs(vim.list_extend(vim.list_slice(added), accepted)) do
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
