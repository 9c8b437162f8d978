-- What commands/output.rs runs in its editor.
-- luacheck: globals limit run

local M = {}

function M.limited(...)
  limit = ...
  local setup = require("lathe").setup
  require("lathe").setup = function(opts)
    opts.tool_output = { max_bytes = limit }
    setup(opts)
    require("lathe").setup = setup
  end
  run({ [[i=0; while [ $i -lt 20000 ]; do printf '\342\202\254'; i=$((i + 1)); done]] })
end

function M.cut_command()
  run({ "seq 1 5000" }, {
    output = {
      success = function(self, stdout, meta)
        local chat = meta.tools.chat
        chat:add_tool_output(self, { content = "Output:\n```\n" .. tostring(stdout[1]) .. "```" })
      end,
    },
  })
end

function M.forty_results()
  local turn = { tool_calls = {} }
  for i = 1, 40 do
    turn.tool_calls[i] = { name = "t", arguments = { n = i } }
  end
  open({ turn, { text = "done" } }, {
    t = tool("t", {
      function(_, args)
        local size = args.n % 2 == 0 and 400000 or 10
        return { status = "success", data = args.n .. "\n" .. ("x"):rep(size) }
      end,
    }, { opts = { parallel = true } }),
  })
  send("go")
end

return M
