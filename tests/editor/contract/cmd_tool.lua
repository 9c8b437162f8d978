-- What contract/cmd_tool.rs runs in its editor.
-- luacheck: globals bd events exits is_safe run

local M = {}

-- `bd(extra)`: a tool on cmd_tool that prints its argument.
function M.bd()
  function bd(extra)
    return vim.tbl_deep_extend("force", {
      extends = "cmd_tool",
      name = "bd",
      description = "Prints",
      schema = { properties = { word = { type = "string" } }, required = { "word" } },
      build_cmd = function(args)
        return "echo " .. args.word
      end,
    }, extra or {})
  end
  function run(entry, arguments, opts)
    events = {}
    open({ answer("bd", arguments or { word = "hello" }), { text = "done" } }, { bd = entry }, opts)
    send("go")
  end
end

function M.own_outputs()
  run(bd({
    handlers = {
      on_exit = function()
        exits = (exits or 0) + 1
      end,
    },
    output = {
      success = function(self, stdout, meta)
        meta.tools.chat:add_tool_output(self, { content = "mine: " .. tostring(stdout[1]) })
      end,
      prompt = function()
        return "Shall it print?"
      end,
    },
    opts = { require_approval_before = true },
  }))
end

function M.is_safe()
  function is_safe(cmd, listed)
    local t = vim.deepcopy(require("lathe.tools").resolve("run_command"))
    t.args = { cmd = cmd }
    if listed ~= nil then
      t.opts.safe_commands = listed
    end
    return t.gates.is_safe(t, {})
  end
end

return M
