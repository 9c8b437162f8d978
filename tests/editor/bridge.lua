-- What bridge.rs runs in its editor.
-- luacheck: globals act chat find idle inside lib open other performers same seen text tools waited was_fast

local M = {}

function M.hanging_request()
  lib.start(performers)
  chat = open()
  act.take_input = function()
    return "hi"
  end
  act.send_request = function(id, request)
    local turn = '{"text":"a","hang":true}'
    local offer = { chat = id, request = request, tools = tools(), system = {}, wire = "scripted", turn = turn }
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
  for name in
    ([[take_input hold_input start_turn send_request finish_request show_text show_reasoning show_provider_call add_message take_back_message cut_history add_call restore_message restore_call reply
      start_batch finish_batch prepare_call find_fact load_permissions find_wants ask_judge end_judge ask_approval close_question run_cmd store_text kill_jobs run_output
      run_exit finish_call notify tell finish_turn clear_chat close_chat log]]):gmatch("%S+")
  do
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
  act.prepare_call = function()
    return true, 1, 0, "run", nil
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
    return "hi"
  end
  vim.uv.new_timer():start(1, 0, function()
    was_fast = vim.in_fast_event()
    lib.submit({ chat = chat })
  end)
end

function M.answering()
  act.prepare_call = function()
    return true, 1, 31, "function", nil
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

return M
