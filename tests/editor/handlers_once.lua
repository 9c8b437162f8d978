-- What handlers_once.rs runs in its editor.
-- luacheck: globals asked editor_tool edits seen told

local M = {}

-- `editor_tool(extra)`: a tool that notes in `seen` what runs, each with the number of its call.
function M.sharing(...)
  seen, told = {}, {}
  vim.notify = function(text)
    told[#told + 1] = text
  end
  local function note(what, self)
    seen[#seen + 1] = what .. (self.args.n or "")
  end
  function editor_tool(extra)
    local entry = tool("edit", {
      function(self, args)
        note("run", self.tool)
        assert(self.tool.args == args and self.tool.function_call["function"].arguments:find(tostring(args.n)))
        self.tool.count = (self.tool.count or 0) + 1
        return { status = args.fail and "error" or "success", data = "edit " .. args.n .. " of " .. self.tool.count }
      end,
    })
    entry.opts = { use_handlers_once = true }
    entry.env = function(self)
      note("env", self)
      if self.args.bad_env then
        error("no env")
      end
      return {}
    end
    entry.handlers = {
      setup = function(self)
        note("setup", self)
        self.prepared = true
        if self.args.bad_setup then
          error("no setup")
        end
      end,
      on_exit = function(self, meta)
        assert(self.prepared and meta.tools.chat == chat)
        note("exit", self)
      end,
    }
    return vim.tbl_deep_extend("force", entry, extra or {})
  end
  function edits(...)
    local calls = {}
    for i, arguments in ipairs({ ... }) do
      calls[i] = { name = arguments.name or "edit", arguments = vim.tbl_extend("force", { n = i }, arguments) }
      calls[i].arguments.name = nil
    end
    return { tool_calls = calls }
  end
  function asked()
    return count("LatheToolApprovalRequested")
  end
end

function M.parted()
  local other = tool("other", {
    function()
      seen[#seen + 1] = "other"
      return { status = "success", data = "x" }
    end,
  })
  local turn = edits({}, {}, { name = "other" }, {}, {}, {})
  turn.tool_calls[5].arguments = '{"n":'
  open({ turn, { text = "done" } }, { edit = editor_tool(), other = other })
  send("go")
end

return M
