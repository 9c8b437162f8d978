-- What fast_events.rs runs in its editor.
-- luacheck: globals calls functions in_fast_event lathe other outcome ran told why_lines

local M = {}

---@param call string code that knows the module as `lathe`
function M.before_all(call)
  vim.notify = function(text)
    told = text
  end
  local timer = vim.uv.new_timer()
  timer:start(0, 0, function()
    timer:close()
    local ok, err = pcall(function()
      lathe = require("lathe")
      assert(load(call))()
    end)
    outcome = ok and "ok" or tostring(err)
  end)
end

-- How each function is called. One that is missing here fails the test: whoever adds a function says what it does.
function M.calls()
  calls = {
    lathe = {
      setup = function(f)
        f({ display = { icons = "ascii" } })
      end,
      chat = function(f)
        f({ prompt = "x" })
      end,
      toggle = function(f)
        f()
      end,
      last_chat = function(f)
        assert(f() == chat)
      end,
      get_chat = function(f)
        assert(f(chat.bufnr) == chat)
        f()
      end,
      add = function(f)
        f({ bufnr = other })
        f()
      end,
      statusline = function(f)
        assert(f(chat.bufnr):find("tokens") == nil and f(chat.bufnr) ~= "" and f() ~= "" and f(12345) == "")
      end,
      approvals = function(f)
        f()
      end,
      resume = function(f)
        f("no-such-chat")
      end,
      why = function(f)
        f("bash", "ls", function(lines)
          why_lines = lines
        end)
      end,
      register_tool = function(f)
        f(
          "registered",
          tool("registered", {
            function()
              return { status = "success" }
            end,
          })
        )
      end,
      run_tool = function(f)
        f("t", {}, {}, function(result)
          ran = result
        end)
      end,
      add_server = function(f)
        f("s1", {})
      end,
      add_tool = function(f)
        f("s1", { name = "a", handler = function() end })
      end,
      add_resource = function(f)
        f("s1", { name = "a", uri = "x://1", handler = function() end })
      end,
      add_resource_template = function(f)
        f("s1", { name = "a", uriTemplate = "x://{a}", handler = function() end })
      end,
      add_prompt = function(f)
        f("s1", { name = "a", handler = function() end })
      end,
    },
    chat = {
      is_visible = function(f)
        assert(f(chat) == true)
      end,
      open = function(f)
        f(chat)
      end,
      hide = function(f)
        f(chat)
      end,
      add_message = function(f)
        f(chat, { role = "user", content = "given" })
      end,
      add_buf_message = function(f)
        f(chat, { role = "user", content = "typed" })
        f(chat, { role = "llm", content = "shown" })
      end,
      add_context = function(f)
        f(chat, { role = "user", content = "context" }, "source", "an id")
      end,
      show_context = function(f)
        f(chat, "shown")
      end,
      add_tool_output = function(f)
        f(chat, chat.tool_view or {}, "too late")
      end,
      find_adapter = function(f)
        f(chat)
      end,
      heading = function(f)
        assert(f(chat, "user") == "Me")
      end,
      notice = function(f)
        f(chat, "a notice")
      end,
      tell_if_hidden = function(f)
        f(chat, "hidden")
      end,
      submit = function(f)
        f(chat)
      end,
      retry = function(f)
        f(chat)
      end,
      edit_last = function(f)
        f(chat)
      end,
      set_auto = function(f)
        f(chat, true)
      end,
      stop = function(f)
        f(chat)
      end,
      skip = function(f)
        f(chat)
      end,
      clear = function(f)
        f(chat)
      end,
      close = function(f)
        f(chat)
      end,
      get_messages = function(f)
        assert(f(chat) == chat.messages)
      end,
      has_tools = function(f)
        f(chat)
      end,
      set_title = function(f)
        f(chat, "title")
      end,
      was_cleared = false, -- for the engine
    },
    ui = {
      open = function(f)
        f(chat.ui)
      end,
      hide = function(f)
        f(chat.ui)
      end,
      is_visible = function(f)
        f(chat.ui)
      end,
      is_visible_non_curtab = function(f)
        f(chat.ui)
      end,
      is_active = function(f)
        f(chat.ui)
      end,
      follow = function(f)
        f(chat.ui)
      end,
      last = function(f)
        f(chat.ui)
      end,
      render = function(f)
        f(chat.ui)
      end,
      render_headers = function(f)
        f(chat.ui)
      end,
      lock_buf = function(f)
        f(chat.ui)
      end,
      unlock_buf = function(f)
        f(chat.ui)
      end,
    },
  }
  calls.registry = {
    add = function(f)
      f(chat.tool_registry, "u")
    end,
    remove = function(f)
      f(chat.tool_registry, "t")
    end,
  }
  function functions(where)
    if where == "registry" then
      local methods = getmetatable(chat.tool_registry).__index
      return { add = methods.add, remove = methods.remove }
    end
    if where == "lathe" then
      return require("lathe")
    end
    return getmetatable(where == "chat" and chat or chat.ui)
  end
  -- Calls one in a fast event; `outcome` is "ok" or what it threw.
  function in_fast_event(where, name)
    outcome = nil
    local timer = vim.uv.new_timer()
    local fn, how = functions(where)[name], calls[where][name]
    timer:start(0, 0, function()
      timer:close()
      assert(vim.in_fast_event())
      local ok, err = pcall(how, fn)
      outcome = ok and "ok" or tostring(err)
    end)
  end
end

function M.opened()
  told = {}
  vim.notify = function(text)
    told[#told + 1] = text
  end
  open({ { text = "one" }, { text = "two" } }, {
    t = tool("t", {
      function()
        return { status = "success", data = "x" }
      end,
    }),
    u = tool("u", { function() end }),
  }, { tools = { "t" } })
  other = vim.api.nvim_create_buf(true, false)
  vim.api.nvim_buf_set_name(other, "other.txt")
end

return M
