-- What ways.rs runs in its editor.
-- luacheck: globals chat tools

local M = {}

---@param url string
function M.one_key(url)
  for name in pairs(vim.fn.environ()) do
    if name:find("_KEY$") or name == "HF_TOKEN" then
      vim.env[name] = nil
    end
  end
  vim.env.OPENAI_API_KEY = "sk-own"
  require("lathe.adapters.openai").env.url = url
  require("lathe").setup({ interactions = { chat = { tools = tools } } })
  chat = require("lathe").chat({ tools = { "calculator" } })
  send("hello")
end

---@param root string
function M.by_model(root)
  local function is_claude(model)
    return model:find("^c") ~= nil
  end
  function chat.adapter.wire(_, model)
    return is_claude(model) and "anthropic" or "openai"
  end
  function chat.adapter.url(_, model)
    return root .. (is_claude(model) and "/messages" or "/chat")
  end
  function chat.adapter.dialect(_, model)
    return { no_strict = is_claude(model) }
  end
  chat.adapter.model = "c-1"
  send("hello")
end

---A tool whose result has a picture.
function M.shot()
  tools.shot = tool("shot", {
    function()
      return { status = "success", data = 1 }
    end,
  }, {
    output = {
      success = function(self, _, meta)
        local picture = { kind = "image", data = "\137PNG\r\n\26\n\0\0\1" }
        meta.tools.chat:add_tool_output(self, { content = "look", attachments = { picture } })
      end,
    },
  })
end

---Where a sign-in may be, besides the files of the test.
---@param home string
---@param token string
function M.sign_in(home, token)
  vim.env.PATH = home .. "/bin:" .. vim.env.PATH
  vim.env.COPILOT_HOME = home .. "/cli"
  vim.env.COPILOT_GITHUB_TOKEN = token
end

return M
