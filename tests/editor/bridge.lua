-- What bridge.rs runs in its editor.
-- luacheck: globals act call chat find idle inside lib open other performers ready same seen text told tools waited was_fast

local M = {}

function M.hanging_request()
  lib.start(performers)
  chat = open()
  act.take_input = function()
    return { text = "hi" }
  end
  act.send_request = function(id, o)
    local turn = '{"text":"a","hang":true}'
    local offer = { chat = id, request = o.request, tools = tools(), system = {}, wire = "scripted", turn = turn }
    lib.start_request(offer)
  end
  lib.submit({ chat = chat })
end

function M.shut_down_early()
  vim.api.nvim_create_autocmd("VimLeavePre", {
    callback = function()
      lib.shutdown()
      lib.submit({ chat = chat })
    end,
  })
end

-- `lib`, and `seen`: what each performer was called with. A performer does `act[name]`, when there is one.
function M.start(...)
  package.cpath = vim.api.nvim_get_runtime_file("lua/lathe_core.so", false)[1]:gsub("lathe_core.so$", "?.so")
  lib, seen, act = require("lathe_core"), {}, {}
  performers = {}
  local names = [[
    take_input hold_input start_turn send_request finish_request show_text show_reasoning show_provider_call add_message
    take_back_message truncate_history restore_message restore_call start_batch finish_batch notify finish_turn
    clear_chat close_chat
    add_call prepare_call find_fact load_permissions find_wants ask_judge end_judge ask_approval close_question begin_cmd
    run_cmd store_text kill_jobs run_output run_exit finish_call
    reply tell log
  ]]
  for name in names:gmatch("%S+") do
    performers[name] = function(...)
      seen[#seen + 1] = { name, ... }
      if act[name] then
        return act[name](...)
      end
    end
  end
  function find(name)
    return vim.tbl_filter(function(entry)
      return entry[1] == name
    end, seen)
  end
  ---What a performer was told, the first time or that time.
  function told(name, number)
    local entry = find(name)[number or 1]
    return entry and entry[#entry]
  end
  function idle()
    local counts = lib.counts()
    return counts.events == 0 and counts.effects == 0
  end
  function open()
    local id = lib.open_chat({
      auto_submit_success = true,
      auto_submit_errors = true,
      max_parallel = 4,
      max_lines = 2000,
      max_bytes = 51200,
    })
    lib.load_permissions({
      chat = id,
      session = "/",
      home = "/",
      config_home = "/no/such",
      readable = {},
      rules = {},
      agent = "build",
      tools = {},
    })
    return id
  end
  function tools(schema)
    return lib.tool_set({ tools = { { name = "t", schema = schema, numeric_strings = true, parallel = false } } })
  end
  function call(arguments)
    local calls = { { name = "t", arguments = arguments or "" } }
    lib.request_calls({ chat = chat, calls = calls, tools = tools(), submit = false })
  end
  ready = { cmds = { { runner = "lua" } }, approval = "run" }
  act.prepare_call = function()
    return ready
  end
  act.run_cmd = function()
    return true
  end
end

function M.decoded()
  text = [=[{"null":null,"dict":{},"list":[],"deep":[[{"a":[null,{}]}]],"number":-1.5e3,"big":9007199254740991,
            "text":"ä\u0000\ud83d\ude00","yes":true}]=]
  lib.request_calls({ chat = chat, calls = { { name = "t", arguments = text } }, tools = tools(), submit = false })
  function same(a, b)
    if type(a) ~= "table" or type(b) ~= "table" then
      return a == b
    end
    if getmetatable(a) ~= getmetatable(b) then
      return false
    end
    for key, value in pairs(a) do
      if not same(value, b[key]) then
        return false
      end
    end
    for key in pairs(b) do
      if a[key] == nil then
        return false
      end
    end
    return true
  end
end

function M.empty_schema()
  local calls = { { name = "t", arguments = '{"n":"5"}' }, { name = "t", arguments = '{"n":"x"}' } }
  local schema = '{"properties":{"n":{"type":"integer"},"any":[]},"$defs":[]}'
  lib.request_calls({ chat = chat, calls = calls, tools = tools(schema), submit = false })
end

function M.fast_event()
  act.take_input = function()
    return { text = "hi" }
  end
  vim.uv.new_timer():start(1, 0, function()
    was_fast = vim.in_fast_event()
    lib.submit({ chat = chat })
  end)
end

function M.answering()
  ready.approval = "function"
  for _, name in ipairs({ "success", "error", "rejected", "cancelled", "on_exit" }) do
    ready[name] = true
  end
  act.find_fact = function()
    return true
  end
  act.ask_approval = function(chat, call)
    lib.answer({ chat = chat, call = call, answer = "accept" })
  end
end

function M.waiting()
  other = open()
  act.run_cmd = function(id)
    if id == chat then
      waited = vim.wait(10000, function()
        return #find("finish_turn") == 1
      end)
    end
    return true
  end
  for _, id in ipairs({ chat, other }) do
    lib.request_calls({ chat = id, calls = { { name = "t", arguments = "" } }, tools = tools(), submit = false })
  end
end

function M.collected()
  for _ = 1, 10000 do
    coroutine.create(function() end)
  end
  collectgarbage()
  collectgarbage()
  act.run_cmd = function()
    inside = coroutine.running() or "main"
    return true
  end
  chat = open()
  lib.request_calls({ chat = chat, calls = { { name = "t", arguments = "" } }, tools = tools(), submit = false })
end

function M.changing()
  ready.approval, ready.changes = "ask", { { path = "a\xff", before = "x" }, { path = "b", after = "y" } }
  act.ask_approval = function(chat, call)
    lib.answer({ chat = chat, call = call, answer = "accept" })
  end
  act.run_cmd = function(chat, call)
    lib.add_change(chat, call, { path = "b", after = "z" })
    return true
  end
  call()
end

---What the model has read of a call.
function M.result()
  local results = vim.tbl_filter(function(entry)
    return entry[3].role == "tool"
  end, find("add_message"))
  return results[1][3].content
end

return M
