-- `resume(what)` resumes a chat with a provider that always answers, and notes in `outcome` what came of it.
-- luacheck: globals told resume outcome events chat

told = {}
vim.notify = function(text)
  told[#told + 1] = text
end
require("lathe").setup({
  adapters = {
    http = {
      fake = require("lathe.adapters").extend("scripted", {
        turns = function()
          return { text = "answered" }
        end,
      }),
    },
  },
  interactions = { chat = { adapter = "fake" } },
})
-- Resumes; then `outcome` is "opened", "refused" or nil when nothing came of it.
function resume(what)
  told, outcome, events = {}, nil, {}
  local before = require("lathe").last_chat()
  require("lathe").resume(what)
  vim.wait(5000, function()
    local now = require("lathe").last_chat()
    outcome = now and now ~= before and "opened" or told[1] and "refused" or nil
    return outcome ~= nil
  end, 5)
  chat = require("lathe").last_chat()
end
