-- What commands.rs runs in its editor.
-- luacheck: globals chat events run seen

local M = {}

-- `run(cmds, extra, arguments, settings)`: a new chat whose model calls the tool `t` once; `extra` are more fields of the
-- tool, `output = false` leaves its output functions out.
function M.running()
  function run(cmds, extra, arguments, settings)
    events = {}
    if chat then
      chat:close()
    end
    local t = tool("t", cmds, extra)
    t.output = t.output or nil
    open({ answer("t", arguments or {}), { text = "done" } }, { t = t, opts = settings })
    send("go")
  end
end

function M.alternating()
  seen = {}
  local extra = {
    output = {
      success = function(self, stdout, meta)
        seen[#seen + 1] = type(meta.cmd) .. #stdout
        meta.tools.chat:add_tool_output(self, { content = tostring(stdout[#stdout]) })
      end,
    },
  }
  run({
    "printf 'one\\n\\ntwo'",
    function(self, _, opts)
      local lines = opts.input.data
      seen[#seen + 1] = { tostring(lines), lines[1], lines[2], lines[3], #lines, self.stdout[1] == lines }
      return { status = "success", data = lines[3] .. "!" }
    end,
    { "echo", "three" },
    { cmd = "echo four", flag = "four" },
    function(_, _, opts)
      return { status = "success", data = "after " .. opts.input.data[1] }
    end,
  }, extra)
end

function M.line_or_words(given)
  run({ "${cmd}" }, {
    env = function(self)
      local cmd = self.args.cmd
      return { cmd = type(cmd) == "table" and cmd or { raw = cmd } }
    end,
  }, { cmd = given })
end

function M.environment()
  local extend = require("lathe.adapters").extend
  local turns = { answer("t", {}), { text = "done" } }
  require("lathe").setup({
    adapters = {
      http = {
        fake = extend("scripted", { turns = turns }),
        unused = extend("scripted", { turns = {}, env = { api_key = "OWN_API_KEY" } }),
        kept = extend("scripted", { turns = {}, env = { api_key = "KEPT_API_KEY" } }),
      },
    },
    interactions = {
      chat = {
        adapter = "fake",
        tools = {
          t = tool("t", { "env" }, {
            env = function()
              return { value = "x" }
            end,
          }),
          opts = { keep_env = { "KEPT_API_KEY" } },
        },
      },
    },
  })
  chat = require("lathe").chat({ tools = { "t" } })
  send("go")
end

return M
