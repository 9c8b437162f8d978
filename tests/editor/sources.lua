-- What sources.rs runs in its editor.
-- luacheck: globals chat copy first late listed same second told tools words

local M = {}

---@param url string
---@param opts string code of the chat's options
function M.provided(url, opts)
  require("lathe").setup({
    adapters = {
      http = {
        here = require("lathe.adapters").extend("openai_compatible", {
          env = { url = url, api_key = "plain key" },
          schema = { model = { default = "small" } },
        }),
      },
    },
    interactions = { chat = { adapter = "here" } },
  })
  chat = require("lathe").chat(assert(load("return " .. opts))())
end

-- `late` is the source, `listed()` what `:Lathe tools` shows, `words()` what is completed.
function M.world(...)
  late = dofile((...))
  require("lathe.tools.sources").add(late)
  told = {}
  vim.notify = function(text)
    told[#told + 1] = text
  end
  function listed()
    return table.concat(require("lathe.tools.overview").lines(chat), "\n")
  end
  function words()
    return table.concat(require("lathe.tools").names(true, chat), " ")
  end
end

function M.failing()
  late.arrive({ echo = "Says it again" })
  open({ answer("echo", {}, "t", {}), { text = "done" } }, {
    t = tool("t", {
      function()
        late.fail("gone")
        return { status = "success", data = "went on" }
      end,
    }),
  }, { tools = { "echo", "t" } })
  chat:set_auto(true)
  late.fail("the server has gone")
  send("go")
end

function M.snapshots()
  late.arrive({ echo = "Says it again" })
  open({}, {})
  tools = require("lathe.tools")
  first = tools.snapshot(chat)
  copy = vim.deepcopy({ first.names, first.group_names, vim.tbl_keys(first.tools), first.generation })
  same = tools.snapshot(chat) == first
  late.arrive({ shout = "Says it aloud" })
  require("lathe").register_tool("own", tool("own", {}))
  second = tools.snapshot(chat)
end

return M
