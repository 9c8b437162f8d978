-- User options: the defaults, their check and the merged result. The only reader of what was given to `setup`.
local M = {}

---@param adapter lathe.Adapter?
---@return string
local function llm_name(adapter)
  return adapter and ("Lathe (%s)"):format(adapter.formatted_name or adapter.name) or "Lathe"
end

-- stylua: ignore
---@type lathe.Config
local defaults = {
  -- Providers: name = table | function | require("lathe.adapters").extend(...).
  adapters = { http = {} },
  interactions = {
    chat = {
      adapter = nil,                -- a name, { name = …, model = … }, or an adapter
      roles = { user = "Me", llm = llm_name }, -- headings; each a string or function(adapter)
      system_prompt = nil,          -- string | function(ctx)
      keymaps = {                   -- action = { modes = { n = "<CR>", i = { … } }, desc = "…" } | false
        send = { modes = { n = { "<CR>", "<C-s>" }, i = "<C-s>" }, desc = "Send the message" },
        stop = { modes = { n = "q" }, desc = "Stop the chat (while it runs)" },
        skip = { modes = { n = "gs" }, desc = "Skip the running call" },
        clear = { modes = { n = "gX" }, desc = "Clear the chat" },
        close = { modes = { n = "gC" }, desc = "Close the chat" },
        next_heading = { modes = { n = "]]" }, desc = "Next heading" },
        prev_heading = { modes = { n = "[[" }, desc = "Previous heading" },
        always_accept = { modes = { n = "g1" }, desc = "Answer: always accept" },
        accept = { modes = { n = "g2" }, desc = "Answer: accept" },
        reject = { modes = { n = "g3" }, desc = "Answer: reject this call" },
        cancel = { modes = { n = "g4" }, desc = "Answer: cancel this call and the rest" },
        help = { modes = { n = "g?" }, desc = "Show the keys" },
      },
      tools = {                     -- <name> = { path | callback | inline, description, enabled, visible, opts }
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
    background = { gates = { judge = { enabled = true, adapter = nil, system_prompt = nil } } },
  },
  permission = nil,                 -- action | { key = action | { { pattern, action }, … } }
  permission_memory = "chat",       -- how long "Always accept" counts: "chat" or "project"
  tool_output = { max_lines = 2000, max_bytes = 51200, encoding = nil },
  agent = {},                       -- <name> = { permission = … }
  native = {},                      -- native servers
  project_tools = {},               -- tools of a project's `tools/` folder
  display = {
    icons = nil,                    -- "ascii", or state = text (see `:help lathe-icons`)
    chat = {
      window = { layout = "vertical", width = 0.45 }, -- vertical | horizontal | float | current
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
  ["interactions.chat.keymaps.*"] = "table|false",
  ["interactions.chat.tools.*"] = "table|false",
  ["interactions.chat.tools.groups.*"] = "table",
  ["interactions.chat.tools.opts.default_tools"] = "list",
  ["interactions.chat.tools.opts.system_prompt.prompt"] = "string|function",
  ["interactions.chat.tools.opts.max_parallel"] = "count",
  ["interactions.chat.tools.opts.timeout"] = "count|false",
  ["interactions.chat.tools.opts.keep_env"] = "list",
  ["interactions.background.gates.judge.adapter"] = "string|table",
  ["interactions.background.gates.judge.system_prompt"] = "string|function",
  ["permission"] = "string|table",
  ["tool_output.max_lines"] = "count",
  ["tool_output.max_bytes"] = "count",
  ["tool_output.encoding"] = "string",
  ["agent.*"] = "table",
  ["native.*"] = "*",
  ["project_tools.*"] = "*",
  ["display.icons"] = "table|string",
  ["display.chat.window.height"] = "number",
}

-- Tables with fixed names whose values are replaced whole, not merged.
local whole = { ["interactions.chat.keymaps."] = true }

-- Options that take one of a few words.
local words = {
  permission_memory = { chat = true, project = true },
  ["display.chat.window.layout"] = { vertical = true, horizontal = true, float = true, current = true },
}

---@param value any
---@param allowed string names of types, separated by `|`
---@return boolean
local function fits(value, allowed)
  local name = value == false and "false" or type(value)
  for want in allowed:gmatch("[^|]+") do
    if want == name or want == "*" or (want == "boolean" and name == "false") then
      return true
    elseif want == "list" and name == "table" and (next(value) == nil or value[1] ~= nil) then
      return true
    elseif want == "count" and name == "number" and value >= 1 and value == math.floor(value) then
      return true
    end
  end
  return false
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
    local allowed = types[name] or (own ~= nil and not whole[path] and type(own)) or types[path .. "*"]
    if not allowed or (whole[path] and own == nil) then
      problems[#problems + 1] = name .. ": unknown option"
    elseif not fits(value, allowed) then
      local got = type(value) == "table" and "a table" or vim.inspect(value)
      problems[#problems + 1] = ("%s: expected %s, got %s"):format(
        name,
        (allowed:gsub("|", " or "):gsub("count", "a whole number from 1")),
        got
      )
    elseif words[name] and not words[name][value] then
      local known = vim.tbl_keys(words[name])
      table.sort(known)
      problems[#problems + 1] = ("%s: expected one of %s, got %q"):format(name, table.concat(known, ", "), value)
    else
      local inner = { unpack(keys) }
      inner[#inner + 1] = key
      if type(value) == "table" and type(own) == "table" and allowed ~= "list" and not whole[path] then
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
  for _, option in ipairs(accepted) do
    local keys = option.keys
    local parent = merged
    for i = 1, #keys - 1 do
      parent = parent[keys[i]]
    end
    parent[keys[#keys]] = option.value -- by reference: tools are known by their identity
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
