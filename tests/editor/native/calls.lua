-- What native/calls.rs runs in its editor.
-- luacheck: globals allowed cancelled done fast fault finish fired late made one order process_ended seen setup
-- luacheck: globals started tool_def waiting

local M = {}

function M.never_sends()
  approve()
  serve("s", "t", function(req, res)
    finish = function()
      res:text("late"):send()
    end
    req.signal.on_cancel(function()
      fired = (fired or 0) + 1
    end)
  end)
  started = vim.uv.hrtime()
  call("s", "t", {}, { timeout = 200 })
end

function M.two_limits()
  approve({ timeout = 100 })
  serve("s", "all", function() end)
  serve("s", "own", function() end, { timeout = 50 })
  call("s", "all")
end

function M.throwing()
  serve("s", "t", function()
    error("boom")
  end)
  serve("s", "object", function()
    error({ disk = "full" })
  end)
  serve("s", "guarded", function(_, res)
    vim.schedule(res:guard(function()
      error("in a callback")
    end))
  end)
  serve("s", "after", function(_, res)
    res:text("stands"):send()
    error("too late")
  end)
  use({ answer("s__t", {}, "s__object", {}, "s__guarded", {}, "s__after", {}), { text = "done" } }, { "s" })
  send("go")
end

function M.failing()
  serve("s", "details", function(_, res)
    res:text("t")
    return res:error("No repo", { cwd = "/x" })
  end)
  serve("s", "sent", function(_, res)
    return res:error("e"):send()
  end)
  serve("s", "plain", function(_, res)
    return res:error("e")
  end)
  serve("s", "table", function(_, res)
    return res:error({ why = 1 })
  end)
  use({ answer("s__details", {}, "s__sent", {}, "s__plain", {}, "s__table", {}), { text = "done" } }, { "s" })
  send("go")
end

function M.bad_items()
  approve()
  serve("s", "some", function(_, res)
    return res:text("good"):image(12):resource({ text = "no uri" })
  end)
  serve("s", "none", function()
    return { { type = "text" }, { type = "video" }, 3 }
  end)
  serve("s", "empty", function(_, res)
    return res:send()
  end)
  use({ answer("s__some", {}, "s__none", {}, "s__empty", {}), { text = "done" } }, { "s" })
  send("go")
end

function M.changing_schema()
  allowed = { "a" }
  serve("s", "t", function(req, res)
    return res:text("ran " .. req.params.x)
  end, {
    inputSchema = function()
      return { type = "object", properties = { x = { enum = vim.deepcopy(allowed), type = "string" } } }
    end,
  })
  use(function(messages)
    if #results() == 0 then
      allowed = { "b" }
      return answer("s__t", { x = "a" }, "s__t", { x = "b" })
    elseif #results() == 2 then
      return answer("s__t", { x = "b" })
    end
    return { text = "done" }
  end, { "s" })
  send("go")
end

function M.no_coercion()
  approve()
  serve("s", "t", function(req, res)
    return res:text(type(req.params.n))
  end, {
    inputSchema = {
      type = "object",
      properties = { n = { type = "integer" }, at = { type = "string", format = "date" } },
    },
  })
  call("s", "t", { n = "3" })
end

function M.defaults()
  function setup(apply)
    approve({ apply_defaults = apply })
    serve("s", "t", function(req, res)
      local p = req.params
      return res:text(p.path .. tostring(p.start_line) .. vim.inspect(p.deep))
    end, {
      inputSchema = {
        type = "object",
        properties = {
          path = { type = "string" },
          start_line = { type = "number", default = 1 },
          deep = { type = "object", properties = { x = { default = { "y" } } } },
        },
        required = { "path" },
      },
    }, { replace = true })
    call("s", "t", { path = "p", deep = vim.empty_dict() })
  end
  setup(false)
end

function M.nulls()
  serve("s", "t", function(req, res)
    local p = req.params
    local text = tostring(p.x) .. tostring(p.list[1] == vim.NIL) .. #p.list
    p.list[2], p.more = "changed", true
    return res:text(text)
  end, { inputSchema = { type = "object", properties = { x = { type = "string" }, list = { type = "array" } } } })
  use(
    { answer("s__t", '{"x":null,"list":[null,1]}', "s__t", '{"x":null,"list":[null,1,2]}'), { text = "done" } },
    { "s" }
  )
  send("go")
end

function M.request()
  vim.cmd.edit("one.lua")
  one = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "a", "b" })
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  vim.cmd("silent! badd two.txt")
  tool_def = {
    name = "t",
    handler = function(req, res)
      seen = req
      return res:text("x")
    end,
  }
  native.add_tool("s", tool_def)
  use({ answer("s__t", { k = 1 }), { text = "done" } }, { "s" })
  send("go")
end

function M.facts()
  local info, first = seen.editor_info, nil
  for _, buffer in ipairs(info.buffers) do
    if buffer.bufnr == one then
      first = buffer
    end
  end
  return vim.json.encode({
    #info.buffers,
    info.last_active.bufnr == one,
    first.filename == vim.fn.getcwd() .. "/one.lua",
    first.filetype,
    first.line_count,
    first.is_visible,
    first.is_modified,
    first.is_loaded,
    first.lastused > 0,
    #first.windows,
    first.winnr == first.windows[1],
    first.cursor_pos,
    seen.params.k,
    seen.tool == tool_def,
    seen.server == native.is_native_server("s"),
    seen.server.displayName,
    seen.caller.type,
    seen.caller.auto_approve,
    seen.caller.lathe.chat == chat,
    seen.caller.lathe.bufnr == chat.bufnr,
    seen.caller.codecompanion == seen.caller.lathe,
    type(seen.caller.lathe.tool_call_id),
    seen.caller.meta,
    seen.signal.is_cancelled(),
  })
end

function M.waiting()
  approve()
  serve("s", "soon", function(_, res)
    vim.defer_fn(function()
      res:text("x"):send()
    end, 20)
  end)
  serve("s", "never", function() end)
  serve("s", "throws", function()
    error("boom")
  end)
end

function M.in_fast_event()
  local timer = vim.uv.new_timer()
  timer:start(1, 0, function()
    timer:close()
    local _, e = native.call_tool("s", "soon")
    fast = e.code
    native.call_tool("s", "soon", {}, {
      callback = function(r)
        late = r.result.content[1].text .. tostring(vim.in_fast_event())
      end,
    })
  end)
end

function M.one_after_another()
  order = {}
  serve("s", "t", function(req, res)
    table.insert(order, "begin " .. req.params.n)
    vim.defer_fn(function()
      table.insert(order, "end " .. req.params.n)
      res:text(""):send()
    end, 10)
  end)
  use({ answer("s__t", { n = 1 }, "s__t", { n = 2 }), { text = "done" } }, { "s" })
  send("go")
end

function M.stopped()
  serve("s", "t", function(req, res)
    local process = vim.system({ "sleep", "30" }, {}, function()
      res:text("late"):send()
      process_ended = true
    end)
    req.signal.on_cancel(function()
      process:kill(15)
      cancelled = req.signal.is_cancelled()
    end)
    waiting = true
  end)
  use({ answer("s__t", {}, "s__t", {}), { text = "never" } }, { "s" })
  send("go")
end

function M.every_outcome()
  serve("s", "ok", function(_, res)
    return res:text("ok")
  end)
  serve("s", "throws", function()
    error("x")
  end)
  serve("s", "bad", function()
    return 1
  end)
  serve("s", "slow", function() end, { timeout = 20 })
  serve("s", "fails", function(_, res)
    return res:error("no")
  end)
  use({
    answer("s__ok", {}, "s__throws", {}, "s__bad", {}, "s__slow", {}, "s__fails", {}, "s__gone", {}, "s__ok", "[1]"),
    { text = "done" },
  }, { "s" })
  send("go")
end

function M.nested()
  serve("s", "inner", function(_, res)
    vim.defer_fn(function()
      res:text("inner"):send()
    end, 10)
  end)
  serve("s", "outer", function(_, res)
    local response = native.call_tool("s", "inner")
    return res:text("outer of " .. response.result.content[1].text)
  end)
  use({ answer("s__outer", {}), { text = "done" } }, { "s" })
  send("go")
end

function M.registered_in_fast_event()
  approve()
  local timer = vim.uv.new_timer()
  timer:start(1, 0, function()
    timer:close()
    made, fault = serve("fast", "t", function()
      return "ran"
    end)
    done = true
  end)
end

return M
