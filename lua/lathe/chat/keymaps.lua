-- The chat buffer's keys. What an action does is in `actions.lua`.
local M = {}

local list_window = require("lathe.chat.draw.list_window")
local notify = require("lathe.notify")

---Names of the actions, in the order of the help.
-- stylua: ignore
M.actions = {
  "send", "stop", "skip", "retry", "edit_last", "always_accept", "accept", "reject", "cancel",
  "auto", "view_all", "yank_code", "next_heading", "prev_heading", "clear", "close", "help",
}

---The modes and keys of an action.
---@param spec table|false|nil
---@return string[][] list of `{ mode, lhs }`
local function keys_of(spec)
  local list = {}
  for mode, keys in pairs(spec and spec.modes or {}) do
    for _, lhs in ipairs(type(keys) == "table" and keys or { keys }) do
      list[#list + 1] = { mode, lhs }
    end
  end
  return list
end

---The first key of an action.
---@param config lathe.ChatConfig
---@param action string
---@param mode string? default: normal mode
---@return string?
function M.key(config, action, mode)
  local spec = config.keymaps[action]
  local keys = spec and spec.modes and spec.modes[mode or "n"]
  if type(keys) == "table" then
    return keys[1]
  end
  return keys
end

---Sets the keys of a chat's buffer.
---@param chat lathe.Chat
---@param actions table<string, fun(chat: lathe.Chat)>
function M.set(chat, actions)
  for _, action in ipairs(M.actions) do
    local spec = chat.config.keymaps[action]
    local function act()
      actions[action](chat)
    end
    for _, key in ipairs(keys_of(spec)) do
      local mode, lhs = key[1], key[2]
      local opts = { buffer = chat.bufnr, nowait = true, silent = true, desc = "lathe: " .. (spec.desc or action) }
      local rhs = act
      if action == "stop" then
        -- While nothing runs it is Vim's own key: `q` records a macro.
        opts.expr = true
        rhs = function()
          if not chat.is_running then
            return lhs
          end
          act()
          return ""
        end
      end
      local ok, err = pcall(vim.keymap.set, mode, lhs, rhs, opts)
      if not ok then
        notify.error(("interactions.chat.keymaps.%s: %s"):format(action, tostring(err)))
      end
    end
  end
end

---Shows the keys in a window.
---@param chat lathe.Chat
function M.help(chat)
  local lines = {}
  for _, action in ipairs(M.actions) do
    local spec = chat.config.keymaps[action]
    local keys = {}
    for _, key in ipairs(keys_of(spec)) do
      keys[#keys + 1] = key[1] == "n" and key[2] or ("%s (%s)"):format(key[2], key[1] == "i" and "insert" or key[1])
    end
    if keys[1] then
      table.sort(keys)
      lines[#lines + 1] = ("  %-24s %s  "):format(table.concat(keys, "  "), spec.desc or action)
    end
  end
  if not lines[1] then
    return notify.info("no keys are set (`:help lathe-keys`)")
  end
  list_window.show(lines, "lathe", { "g?" })
end

return M
