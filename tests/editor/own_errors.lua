-- What own_errors.rs runs in its editor.
-- luacheck: globals cmd events

local M = {}

---A loud call that fails, and two of the silent tool.
---@param quiet string code of the silent tool's cmd, which its own code knows as `cmd`
---@param loud string code of the loud tool's cmd
---@param silent string code of the silent tool
function M.loud_and_silent(quiet, loud, silent)
  if chat then
    chat:close()
  end
  events = {}
  cmd = assert(load("return " .. quiet))()
  open({ answer("loud", {}, "silent", {}, "silent", { n = 2 }), { text = "done" } }, {
    loud = tool("loud", { assert(load("return " .. loud))() }),
    silent = assert(load("return " .. silent))(),
  })
  send("go")
end

function M.two_errors()
  local function bare(name, data)
    local t = tool(name, {
      function()
        return { status = "error", data = data }
      end,
    })
    t.output = nil
    return t
  end
  open({ answer("one", {}, "two", {}), { text = "done" } }, { one = bare("one", "first"), two = bare("two", "second") })
  send("go")
end

return M
