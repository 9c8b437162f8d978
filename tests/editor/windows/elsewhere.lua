-- What windows/elsewhere.rs runs in its editor.
-- luacheck: globals fast splits use used

local M = {}

function M.using_functions()
  fast, used = {}, {}
  function use(where)
    used[where] = true
    if vim.in_fast_event() then
      fast[#fast + 1] = where
    end
    vim.fn.shellescape("x")
    vim.api.nvim_get_current_buf()
  end
  local function user(where, value)
    return function()
      use(where)
      return value
    end
  end
  vim.api.nvim_create_autocmd("User", {
    pattern = "Lathe*",
    callback = function(event)
      use(event.match)
    end,
  })
  local handlers = { setup = user("setup"), on_exit = user("on_exit"), prompt_condition = user("condition", true) }
  local function shown(where)
    return function(self, _, meta)
      use(where)
      meta.tools.chat:add_tool_output(self, where)
    end
  end
  local output = {
    success = shown("success"),
    error = shown("error"),
    prompt = user("prompt", "Sure?"),
    cmd_string = user("label", "label"),
  }
  open({ answer("command", {}, "late", {}), { text = "done" } }, {
    command = tool(
      "command",
      { "echo $((1 + 1))", "exit 3" },
      { handlers = handlers, output = output, env = user("env", {}) }
    ),
    late = tool("late", {
      function(_, _, opts)
        local timer = vim.uv.new_timer()
        timer:start(1, 0, function()
          timer:close()
          opts.output_cb({ status = "success", data = 1 })
        end)
      end,
    }, { handlers = handlers, output = output, opts = { require_approval_before = true } }),
  })
  send("go")
end

function M.hostile_autocommands()
  splits = 0
  vim.api.nvim_create_autocmd({ "WinEnter", "WinLeave", "BufEnter", "BufWinLeave", "WinClosed" }, {
    callback = function(event)
      if splits < 3 then
        splits = splits + 1
        vim.cmd("split")
      end
      error("thrown on purpose by " .. event.event)
    end,
  })
end

return M
