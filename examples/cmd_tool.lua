-- A tool that runs one command, and the built-in run_command beside it, with an offline provider to try them:
--   nvim --clean --cmd "set rtp^=." -u examples/cmd_tool.lua
-- then `:Lathe chat`, type `How many lines has README.md? Use @{count_lines}`, send it, and answer the question with g2.

require("lathe").setup({
  interactions = {
    chat = {
      tools = {
        count_lines = {
          extends = "cmd_tool",
          name = "count_lines",
          description = "Count the lines of a file",
          schema = {
            properties = { file = { type = "string", description = "Path of the file" } },
            required = { "file" },
          },
          build_cmd = function(args)
            return "wc -l < " .. vim.fn.shellescape(args.file)
          end,
          opts = { require_approval_before = true },
        },
        -- What the model may run in Auto mode without a question, letter for letter.
        run_command = { opts = { safe_commands = { "git status", "make test" } } },
      },
    },
  },
})

-- The provider: it plays a model that calls the tool and then says what that gave.
local scripted = require("lathe.adapters").extend("scripted", {
  turns = function(messages)
    local last = messages[#messages]
    if last.role == "tool" then
      return { text = ("It has %s lines."):format(vim.trim(last.content)) }
    end
    return { tool_calls = { { name = "count_lines", arguments = { file = "README.md" } } } }
  end,
})
require("lathe.adapters").register("scripted", scripted)
