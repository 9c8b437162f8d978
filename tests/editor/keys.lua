-- What keys.rs runs in its editor.
-- luacheck: globals chat keys told

local M = {}

function M.moved_keys()
  local fake = require("lathe.adapters").extend("scripted", { turns = { { text = "answered" } } })
  require("lathe").setup({
    adapters = { http = { fake = fake } },
    interactions = {
      chat = {
        adapter = "fake",
        keymaps = {
          send = { modes = { n = "<F7>", i = { "<F7>", "<F8>" } }, desc = "Off you go" },
          close = false,
          stop = false,
        },
      },
    },
  })
  chat = require("lathe").chat()
  keys = {}
  for _, map in ipairs(vim.api.nvim_buf_get_keymap(chat.bufnr, "n")) do
    keys[map.lhs] = map.desc
  end
end

function M.own_keys()
  local function hang() end
  require("lathe").setup({
    adapters = {
      http = { fake = require("lathe.adapters").extend("scripted", { turns = { answer("t", {}, "asks", {}) } }) },
    },
    display = { icons = "ascii" },
    interactions = {
      chat = {
        adapter = "fake",
        keymaps = { skip = { modes = { n = "<F6>" } }, accept = { modes = { n = {} } } },
        tools = {
          t = tool("t", { hang }, { opts = { parallel = true } }),
          asks = tool("asks", { hang }, { opts = { parallel = true, require_approval_before = true } }),
        },
      },
    },
  })
  chat = require("lathe").chat({ tools = { "t", "asks" }, prompt = "go", submit = true })
end

function M.no_keys()
  told = {}
  vim.notify = function(text)
    told[#told + 1] = text
  end
  local keymaps = {}
  for action in pairs(require("lathe.config").get().interactions.chat.keymaps) do
    keymaps[action] = false
  end
  require("lathe").setup({ interactions = { chat = { keymaps = keymaps } } })
  require("lathe").chat()
end

function M.layout(name)
  local fake = require("lathe.adapters").extend("scripted", { turns = { { text = "answered" } } })
  require("lathe").setup({
    adapters = { http = { fake = fake } },
    interactions = { chat = { adapter = "fake" } },
    display = { chat = { window = { layout = name } } },
  })
end

return M
