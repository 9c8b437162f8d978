-- What providers.rs runs in its editor.
-- luacheck: globals chat notes parameters tools

local M = {}

---@param configured string code of the adapters
---@param adapter string the one that chats take
function M.configure(configured, adapter)
  require("lathe").setup({
    adapters = { http = assert(load("return {" .. configured .. "}"))() },
    interactions = { chat = { adapter = adapter, tools = tools, system_prompt = "Be brief." } },
  })
end

function M.open_chat()
  chat = require("lathe").chat({ tools = { "calculator", "list.buffers", "bad" } })
end

function M.tools()
  notes = {}
  vim.notify = function(text)
    notes[#notes + 1] = text
  end
  function parameters(name, properties, required, strict)
    return {
      schema = {
        ["function"] = {
          name = name,
          strict = strict,
          parameters = { type = "object", properties = properties, required = required },
        },
      },
    }
  end
  tools = {
    calculator = tool(
      "calculator",
      {
        function(_, args)
          return { status = "success", data = args.num1 * (args.num2 or 2) }
        end,
      },
      parameters("calculator", {
        num1 = { type = "number" },
        num2 = { type = "number" },
        more = { type = "object", properties = { at = { type = { "string", "null" } }, as = { const = "k" } } },
      }, { "num1" }, true)
    ),
    ["list.buffers"] = tool("list.buffers", {
      function()
        return { status = "error", data = "none" }
      end,
    }),
    bad = tool("bad", { function() end }, { schema = { ["function"] = { parameters = { type = "array" } } } }),
  }
end

return M
