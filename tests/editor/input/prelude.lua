-- A chat with two tools, one of them with a name that needs braces, a group, one tool that is off and one that is not
-- shown; `got()` is what the model read last.
-- luacheck: globals chat file got seen told words world

told = {}
vim.notify = function(text)
  told[#told + 1] = text
end
vim.o.swapfile = false
function world(opts)
  local tools = {
    grep_search = tool("grep_search", {}, { description = "Search the project for a text" }),
    ["grep-files"] = tool("grep-files", {}),
    hidden = tool("hidden", {}, { visible = false }),
    off = tool("off", {}, { enabled = false }),
    run_command = false,
    memory = false,
    groups = { files = { description = "Work with files", tools = { "grep_search" } } },
  }
  require("lathe").setup({
    adapters = {
      http = {
        fake = require("lathe.adapters").extend("scripted", {
          turns = function(messages)
            seen = messages[#messages].content
            return { text = "answered" }
          end,
        }),
      },
    },
    interactions = { chat = { adapter = "fake", tools = tools } },
    tool_output = { max_bytes = opts and opts.max_bytes },
  })
  chat = require("lathe").chat({ hidden = opts and opts.hidden })
end
function got()
  for i = #chat.messages, 1, -1 do
    if chat.messages[i].role == "user" then
      return chat.messages[i].content
    end
  end
end
function words()
  return vim
    .iter(vim.fn.complete_info({ "items" }).items)
    :map(function(item)
      return item.word
    end)
    :join(" ")
end
-- A buffer in the window beside the chat, by its lines.
function file(name, lines)
  vim.cmd("topleft vsplit " .. name)
  vim.fn.setline(1, lines)
  return vim.api.nvim_get_current_buf()
end
