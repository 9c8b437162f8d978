-- What turns/faults.rs runs in its editor.
-- luacheck: globals exits setups wipe

local M = {}

function M.throwing_values()
  local function throwing(name, value)
    return tool(name, {
      function()
        error(value, 0)
      end,
    })
  end
  open({ answer("object", {}, "text", {}, "none", {}, "deep", {}), { text = "done" } }, {
    object = throwing("object", { code = 7, msg = "disk full" }),
    text = throwing("text", "plain"),
    none = throwing("none", nil),
    deep = tool("deep", {
      function()
        local x = nil
        return x.y
      end,
    }),
  })
  send("go")
end

function M.throwing_at(place)
  local function maybe(name, value)
    return function(self, _, meta)
      if name == place then
        error("boom in " .. name)
      end
      return value
    end
  end
  local function say(name)
    return function(self, _, meta)
      if name == place then
        error("boom in " .. name)
      end
      meta.tools.chat:add_tool_output(self, { content = name })
    end
  end
  open({ answer("t", {}, "after", {}), { text = "done" } }, {
    t = tool("t", { maybe("cmd", { status = place == "error" and "error" or "success", data = 1 }) }, {
      env = maybe("env", {}),
      handlers = {
        setup = maybe("setup"),
        on_exit = maybe("on_exit"),
        prompt_condition = maybe("prompt_condition", place == "prompt"),
      },
      output = {
        success = say("success"),
        error = say("error"),
        cmd_string = maybe("cmd_string", "x"),
        prompt = maybe("prompt", "?"),
      },
    }),
    after = tool("after", {
      function()
        return { status = "success", data = "fine" }
      end,
    }),
  })
  send("go")
end

function M.wiping_at(place)
  setups, exits = 0, 0
  function wipe(at)
    if at == place then
      vim.api.nvim_buf_delete(chat.bufnr, { force = true })
    end
  end
  local function at(name, value)
    return function(self, _, meta)
      if name == "setup" then
        setups = setups + 1
      elseif name == "on_exit" then
        exits = exits + 1
      end
      wipe(name)
      if name == "success" then
        meta.tools.chat:add_tool_output(self, { content = "x" })
      end
      return value
    end
  end
  open({ answer("t", {}, "t", { n = 2 }), { text = "done" } }, {
    t = tool("t", { at("cmd", place ~= "running" and { status = "success", data = 1 } or nil) }, {
      env = at("env", {}),
      handlers = { setup = at("setup"), on_exit = at("on_exit") },
      output = { success = at("success") },
      opts = { require_approval_before = place == "asking" },
    }),
  })
  send("go")
  wipe("sending")
end

return M
