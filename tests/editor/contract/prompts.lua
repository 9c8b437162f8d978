-- What contract/prompts.rs runs in its editor.
-- luacheck: globals chat requests setup user

local M = {}

---@param opts string code of the group's options
function M.group(opts)
  setup({
    system_prompt = "main",
    tools = {
      a = tool("a", {}, { system_prompt = "own" }),
      b = tool("b", {}),
      opts = { system_prompt = { prompt = "general" } },
      groups = {
        both = {
          tools = { "a", "b" },
          opts = assert(load("return {" .. opts .. "}"))(),
          prompt = "${tools} (both)",
          system_prompt = function(group, ctx)
            return "group of " .. table.concat(group.tools, " ") .. ", tools " .. table.concat(ctx.tools, " ")
          end,
        },
      },
    },
  })
end

-- `setup(chat)`: a scripted model whose requests are kept in `requests`, with these options of the chat.
function M.setup()
  requests = {}
  function setup(options)
    require("lathe").setup({
      adapters = {
        http = {
          fake = require("lathe.adapters").extend("scripted", {
            turns = function(messages)
              local texts = {}
              for _, message in ipairs(messages) do
                if message.role == "system" then
                  texts[#texts + 1] = message.content
                end
              end
              requests[#requests + 1] = table.concat(texts, "|")
              user = messages[#messages].content
              return { text = "done" }
            end,
          }),
        },
      },
      interactions = { chat = vim.tbl_extend("force", { adapter = "fake" }, options) },
    })
    chat = require("lathe").chat()
  end
end

function M.two_prompts()
  setup({
    tools = {
      a = tool("a", {}, { system_prompt = "prompt of a" }),
      b = tool("b", {}, {
        system_prompt = function(schema)
          return "prompt of " .. schema["function"].name
        end,
      }),
    },
  })
end

function M.all_tools()
  setup({
    system_prompt = function(ctx)
      return "main on " .. ctx.adapter.name
    end,
    tools = {
      a = tool("a", {}),
      b = tool("b", {}),
      c = tool("c", {}),
      opts = {
        default_tools = { "a" },
        system_prompt = {
          prompt = function(args)
            return "tools: " .. table.concat(args.tools, " ")
          end,
        },
      },
    },
  })
end

function M.failing()
  setup({
    tools = {
      a = tool("a", {}, {
        system_prompt = function()
          error({ code = 7 })
        end,
      }),
      b = tool("b", {}, { system_prompt = "of b" }),
      groups = {
        g = {
          tools = { "a", "b" },
          system_prompt = function()
            error("group")
          end,
        },
      },
      opts = { system_prompt = {
        prompt = function()
          error("general")
        end,
      } },
    },
  })
end

return M
