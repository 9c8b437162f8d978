-- What native/media.rs runs in its editor.
-- luacheck: globals chat

local M = {}

---@param vision string code of the option
function M.provided(url, vision)
  require("lathe").setup({
    adapters = {
      http = {
        here = require("lathe.adapters").extend("openai_compatible", {
          env = { url = url, api_key = "plain key" },
          schema = { model = { default = "small" } },
          opts = { vision = assert(load("return " .. vision))() },
        }),
      },
    },
    interactions = { chat = { adapter = "here" } },
    native = { auto_approve = true },
  })
  chat = require("lathe").chat({ tools = { "s" } })
  send("go")
end

function M.with_attachment()
  local picture = { kind = "image", data = "\137PNG\r\n\26\n\0\0\1" }
  open({ answer("shot", {}), { text = "done" } }, {
    shot = tool("shot", {
      function()
        return { status = "success", data = 1 }
      end,
    }, {
      output = {
        success = function(self, _, meta)
          meta.tools.chat:add_tool_output(self, { content = "look", attachments = { picture } })
        end,
      },
    }),
  })
  send("go")
end

function M.binary()
  serve("s", "t", function(_, res)
    return res
      :audio("\1\2")
      :resource({ uri = "x://bin", blob = vim.base64.encode("\3"), mimeType = "application/x-thing" })
      :resource({ uri = "x://text", text = "words" })
  end)
end

return M
