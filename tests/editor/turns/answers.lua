-- What turns/answers.rs runs in its editor.
-- luacheck: globals ran

local M = {}

function M.four_answers()
  local opts = { require_approval_before = true }
  local function run(_, args)
    return { status = "success", data = "ran " .. args.n }
  end
  open({
    answer("t", { n = 1 }, "t", { n = 2 }, "u", { n = 3 }, "u", { n = 4 }, "v", { n = 5 }),
    { text = "unused" },
  }, {
    t = tool("t", { run }, { opts = opts }),
    u = tool("u", { run }, {
      opts = opts,
      output = {
        prompt = function(self)
          return "Run u with " .. self.args.n .. "?"
        end,
        rejected = function(self, meta)
          meta.tools.chat:add_tool_output(self, { content = "declined: " .. tostring(meta.opts.reason) })
        end,
      },
    }),
    v = tool("v", { run }, { opts = opts }),
  })
  vim.ui.input = function(_, done)
    done("wrong dir")
  end
  send("go")
end

function M.asking()
  open({ answer("t", {}), { text = "answered both" } }, {
    t = tool("t", {
      function()
        return { status = "success", data = "ran" }
      end,
    }, { opts = { require_approval_before = true } }),
  })
  send("go")
end

function M.third_call()
  ran = 0
  open(function()
    return answer("read", { path = "a" })
  end, {
    read = tool("read", {
      function()
        ran = ran + 1
        return { status = "success", data = "text" }
      end,
    }),
  })
  send("go")
end

return M
