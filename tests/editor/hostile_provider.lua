-- What hostile_provider.rs runs in its editor.
-- luacheck: globals chat environment

local M = {}

---Opens a chat with an adapter that is none, and sends.
---@param adapter string code
---@param spec string code of the chat's option
---@return string fault empty when there is none
function M.unfit(adapter, spec)
  adapter, spec = assert(load("return " .. adapter))(), assert(load("return " .. spec))()
  require("lathe").setup({ adapters = { http = { x = adapter } }, interactions = { chat = { adapter = spec } } })
  vim.cmd("enew | Lathe chat")
  chat = require("lathe").last_chat()
  if chat then
    chat:add_buf_message({ role = "user", content = "hello" })
    chat:submit()
  end
  vim.wait(15000, function()
    return not chat or not chat.is_running
  end)
  vim.cmd("checkhealth lathe")
  vim.cmd("bwipeout!")
  local stuck = chat and chat.is_running
  local text = chat and table.concat(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false), " ") or ""
  if chat then
    chat:close()
  end
  return (stuck and "STUCK " or "") .. (text:find("internal error") and text or "")
end

function M.send_and_wait()
  local turn = chat.turn
  chat:add_buf_message({ role = "user", content = "hello" })
  chat:submit()
  return (vim.wait(15000, function()
    return chat.turn > turn and not chat.is_running
  end, 5))
end

function M.inline_key(url, key)
  vim.env.INLINE_KEY = key
  require("lathe").register_tool("shell", {
    name = "shell",
    description = "env",
    cmds = { "env" },
    schema = { type = "function", ["function"] = { name = "shell", parameters = { type = "object" } } },
    output = {
      success = function(self, stdout, meta)
        environment = tostring(stdout[#stdout])
        meta.tools.chat:add_tool_output(self, { content = environment })
      end,
    },
  })
  chat = require("lathe").chat({
    tools = { "shell" },
    adapter = require("lathe.adapters").extend("openai_compatible", { env = { url = url, api_key = "INLINE_KEY" } }),
  })
end

return M
