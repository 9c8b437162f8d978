-- What contract/examples.rs runs in its editor.
-- luacheck: globals play sent

local M = {}

-- A scripted model that calls the tool with these arguments once, whatever is asked, and then says what came of it. The
-- `setup()` of the example gets it beside its own options.
function M.model()
  function play(name, arguments)
    local scripted = require("lathe.adapters").extend("scripted", {
      turns = function(messages)
        local last = messages[#messages]
        if last.role == "tool" then
          return { text = "It gave: " .. last.content .. "." }
        end
        sent = messages
        return { tool_calls = { { name = name, arguments = arguments } } }
      end,
    })
    require("lathe.adapters").register("scripted", scripted)
  end
end

return M
