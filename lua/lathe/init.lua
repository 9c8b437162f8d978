-- The public API. Everything is loaded inside the functions: `require("lathe").setup()` is part of the editor's start.
local M = {}

---Stores and checks options; nothing is loaded, read or run. What is wrong is told once, the rest works.
---@param opts lathe.Opts?
function M.setup(opts)
  local problems = require("lathe.config").setup(opts)
  if package.loaded["lathe.tools"] then
    require("lathe.tools").reload()
  end
  if problems[1] then
    table.sort(problems)
    local more = #problems > 1 and (" (%d more: `:checkhealth lathe`)"):format(#problems - 1) or ""
    require("lathe.notify").warn("setup: " .. problems[1] .. more .. "\n" .. table.concat(problems, "\n", 2))
  end
end

---Opens a chat.
---@param opts lathe.ChatOpts?
---@return lathe.Chat? chat nil when the library is missing; the user has been told
---@return string? message
function M.chat(opts)
  return require("lathe.chat").new(opts)
end

---Hides the last chat, or shows it; opens one when there is none.
function M.toggle()
  local chat = M.last_chat()
  if not chat then
    M.chat()
  elseif chat:is_visible() then
    chat:hide()
  else
    chat:open()
  end
end

---@return lathe.Chat? chat the one used last
function M.last_chat()
  if package.loaded["lathe.chat"] then
    return require("lathe.chat").last()
  end
end

---@param bufnr integer? default: the current buffer
---@return lathe.Chat?
function M.get_chat(bufnr)
  if package.loaded["lathe.chat"] then
    return require("lathe.chat").get(bufnr)
  end
end

---Makes a tool known, as if it were in `interactions.chat.tools`.
---@param name string
---@param entry lathe.ToolEntry
function M.register_tool(name, entry)
  vim.validate("name", name, "string")
  vim.validate("entry", entry, "table")
  require("lathe.tools").register(name, entry)
end

---Runs a tool without a model, with everything that belongs to a call: schema, approval, output functions.
---@param name string
---@param args table? its arguments
---@param opts table? none yet
---@param callback fun(result: lathe.RunResult)? called once
function M.run_tool(name, args, opts, callback)
  require("lathe.chat.run").start(name, args, opts, callback)
end

return M
