-- What contract/stress.rs runs in its editor.
-- luacheck: globals at_rest deleted events exits is_free live memory open_chats round setups

local M = {}

-- `round(from, to, seed)` opens chats of these numbers, each with 20 calls, and does to each what its number says.
function M.world()
  vim.ui.input = function(_, done)
    done("no")
  end
  exits, setups, open_chats, deleted = 0, 0, 0, 0
  live = setmetatable({}, { __mode = "k" }) -- chats, tools' copies and views of calls, as long as anything holds them
  local hows =
    { "success", "success", "error", "throw", "async", "async", "silent", "command", "failing", "plain", "add", "job" }
  local function act(self, args, opts)
    local how = args.how
    if how == "throw" then
      error({ code = args.n })
    end
    if how == "error" then
      return { status = "error", data = { args.n } }
    end
    if how == "async" then
      vim.defer_fn(function()
        opts.output_cb({ status = "success", data = ("x"):rep(args.n) })
      end, args.n % 5)
      return
    end
    if how == "job" then
      opts.register_job(vim.system({ "true" }, {}, function()
        opts.output_cb({ status = "success", data = 1 })
      end))
      return
    end
    if how == "silent" then
      return
    end
    if how == "add" then
      self.chat:add_message({ role = "user", content = "added" })
    end
    return { status = "success", data = { args.n, how } }
  end
  local handlers = {
    setup = function(self, meta)
      setups = setups + 1
      live[self], live[meta.tools], live[meta.tools.chat.render] = true, true, true
    end,
    on_exit = function()
      exits = exits + 1
    end,
  }
  local tools = {
    act = tool("act", { act }, { handlers = handlers, opts = { timeout = 20 } }),
    asks = tool("asks", { act }, { handlers = handlers, opts = { timeout = 20, require_approval_before = true } }),
    beside = tool("beside", { act }, { opts = { timeout = 20, parallel = true } }),
    shell = {
      extends = "cmd_tool",
      name = "shell",
      description = "x",
      schema = { properties = { n = { type = "integer" } } },
      build_cmd = function(args)
        return ("echo %d; exit %d"):format(args.n, args.n % 2)
      end,
    },
  }
  local function turn()
    local calls = {}
    for i = 1, 20 do
      local name = ({ "act", "act", "act", "beside", "asks" })[math.random(5)]
      if math.random(10) == 1 then
        name = "shell"
      end
      if math.random(30) == 1 then
        name = "missing"
      end
      calls[i] = { name = name, arguments = { how = hows[math.random(#hows)], n = math.random(50) } }
    end
    return { tool_calls = calls }
  end
  require("lathe").setup({
    adapters = {
      http = {
        fake = require("lathe.adapters").extend("scripted", {
          turns = function(messages)
            return messages[#messages].role == "user" and #messages < 3 and turn() or { text = "done" }
          end,
        }),
      },
    },
    interactions = { chat = { adapter = "fake", tools = tools } },
  })
  local answers = { "accept", "accept", "always", "reject", "cancel" }
  vim.api.nvim_create_autocmd("User", {
    pattern = "LatheToolApprovalRequested",
    callback = function(event)
      vim.schedule(function()
        local one = require("lathe").get_chat(event.data.bufnr)
        if one and one.questions[1] then
          one.render:flush()
          require("lathe.chat.ask.question").answer(one, answers[math.random(#answers)])
        end
      end)
    end,
  })
  vim.api.nvim_create_autocmd("User", {
    pattern = "LatheChatDone,LatheChatStopped",
    callback = function(event)
      vim.schedule(function()
        local one = require("lathe").get_chat(event.data.bufnr)
        if one then
          one:close()
        end
      end)
    end,
  })
  vim.api.nvim_create_autocmd("User", {
    pattern = "LatheChatClosed",
    callback = function()
      open_chats = open_chats - 1
    end,
  })
  function round(from, to, seed)
    math.randomseed(seed * 1000 + from)
    for n = from, to do
      local one = require("lathe").chat({ tools = vim.tbl_keys(tools), hidden = n % 5 ~= 0 })
      open_chats = open_chats + 1
      live[one] = true
      one:add_buf_message({ role = "user", content = "go" })
      one:submit()
      local fate = math.random(6)
      vim.defer_fn(function()
        if one.is_closing then
          return
        end
        if fate == 1 then
          one:stop()
        elseif fate == 2 then
          pcall(vim.api.nvim_buf_delete, one.bufnr, { force = true })
          deleted = deleted + 1
        elseif fate == 3 then
          one:skip()
        end
      end, math.random(30))
    end
  end
  function at_rest()
    local counts = require("lathe.core").lib.counts()
    return open_chats == 0 and counts.chats == 0 and counts.events == 0 and counts.effects == 0 and counts.commands == 0
  end
  -- Compiled traces hold tables and closures that they were made for, as long as they live.
  function is_free()
    jit.flush()
    collectgarbage("collect")
    return next(live) == nil
  end
  function memory()
    jit.flush()
    for _ = 1, 3 do
      collectgarbage("collect")
    end
    return collectgarbage("count")
  end
  events = setmetatable({}, { __newindex = function() end }) -- they would keep what they tell of
end

return M
