-- What contract/output.rs runs in its editor.
-- luacheck: globals bad bare log ok run show speaks

local M = {}

-- `run(calls, tools)`: a chat whose model makes these calls; `ok(data)` and `bad(data)` are cmds. Every output function of a
-- tool made by `speaks` notes what it gets and adds one text.
function M.noting()
  log = {}
  function show(value)
    return (vim.inspect(value, { newline = "", indent = "" }))
  end
  function ok(data)
    return function()
      return { status = "success", data = data }
    end
  end
  function bad(data)
    return function()
      return { status = "error", data = data }
    end
  end
  function speaks(name, cmds, extra)
    local function with(what)
      return function(self, list, meta)
        log[#log + 1] = what
          .. " "
          .. show(list)
          .. " "
          .. tostring(meta.tools.chat == chat and self == meta.tools.tool)
          .. " "
          .. tostring(
            meta.cmd == nil and "none" or vim.fn.index(vim.tbl_map(tostring, self.cmds), tostring(meta.cmd)) + 1
          )
        meta.tools.chat:add_tool_output(self, { content = what })
      end
    end
    local function without(what)
      return function(self, meta)
        log[#log + 1] = what
          .. " "
          .. show(meta.opts)
          .. " "
          .. tostring(meta.tools.chat == chat and self == meta.tools.tool)
        meta.tools.chat:add_tool_output(self, { content = what })
      end
    end
    local t = tool(name, cmds, extra)
    t.output = {
      success = with("success"),
      error = with("error"),
      rejected = without("rejected"),
      cancelled = without("cancelled"),
    }
    return t
  end
  function bare(name, cmds, extra)
    local t = tool(name, cmds, extra)
    t.output = nil
    return t
  end
  function run(calls, tools)
    open({ calls, { text = "done" } }, tools)
    send("go")
  end
end

function M.prompt_and_label()
  local t = bare("t", { ok(1) }, { opts = { require_approval_before = true } })
  t.output = {
    prompt = function(self, meta)
      return ("Really %s, %s?"):format(self.args.word, tostring(meta.tools.chat == chat))
    end,
    cmd_string = function(self, meta)
      return ("label of %s, %s"):format(self.args.word, tostring(meta.tools.chat == chat))
    end,
  }
  run(answer("t", { word = "this" }), { t = t })
end

function M.displays()
  local function says(name, output)
    local t = bare(name, { ok(1) })
    t.output = {
      success = function(self, _, meta)
        meta.tools.chat:add_tool_output(self, output)
      end,
    }
    return t
  end
  run(answer("both", {}, "plain", {}, "off", {}, "empty", {}), {
    both = says("both", { content = "model 1", display = "user 1" }),
    plain = says("plain", { content = "model 2" }),
    off = says("off", { content = "model 3", display = false }),
    empty = says("empty", { content = "model 4", display = "" }),
  })
end

function M.defaults()
  local asks = { opts = { require_approval_before = true } }
  run(answer("good", {}, "fails", {}, "asked", {}, "left", {}, "queued", {}), {
    good = bare("good", { ok(1), ok(2) }),
    fails = bare("fails", { bad("x") }),
    asked = bare("asked", { ok(1) }, asks),
    left = bare("left", { ok(1) }, asks),
    queued = bare("queued", { ok(1) }),
  })
end

return M
