-- An extension that adds a key to chats, and a tool to each chat by code.
return {
  setup = function(opts)
    local config = require("codecompanion.config")
    config.interactions.chat.keymaps.pick_title = {
      modes = { n = opts.key or "gt" },
      description = "Pick a title",
      callback = function(chat)
        chat.title = "picked for " .. chat.id
        picked = chat
      end,
    }
    config.interactions.chat.tools.titles = {
      description = "Tell the title",
      callback = function()
        return {
          name = "titles",
          cmds = {
            function(self)
              return { status = "success", data = self.chat.title or "none" }
            end,
          },
          schema = {
            type = "function",
            ["function"] = { name = "titles", description = "Tell the title", parameters = { type = "object" } },
          },
          output = {
            success = function(self, stdout, meta)
              meta.tools.chat:add_tool_output(self, { content = stdout[1] })
            end,
          },
        }
      end,
    }
    vim.api.nvim_create_autocmd("User", {
      pattern = "CodeCompanionChatCreated",
      callback = function(event)
        local chat = require("codecompanion").buf_get_chat(event.data.bufnr)
        chat.tool_registry:add_single_tool("titles", { config = config.interactions.chat.tools.titles })
      end,
    })
  end,
  exports = {
    title_of = function(bufnr)
      return require("codecompanion.interactions.chat").buf_get_chat(bufnr).title
    end,
  },
}
