-- What providers/pictures.rs runs in its editor.
-- luacheck: globals chat tools

local M = {}

function M.picture_of_tool()
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

function M.picture_of_user()
  for name in pairs(chat.tool_registry.in_use) do
    chat.tool_registry:remove(name)
  end
  chat.adapter.opts.vision = true
  local picture = { data = "\137PNG\r\n\26\n\0\0\1" }
  chat:add_message({ role = "user", content = "Look at this.", images = { picture, "/no/such.png" } })
  send("What is it?")
end

return M
