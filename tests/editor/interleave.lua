-- What interleave.rs runs in its editor.
-- luacheck: globals alive chats exits new setups some told tools turn unpaired waiting

local M = {}

-- `turn(seed)` makes a random turn of a model. Tools decide by their own argument how they behave.
function M.world()
  told = {}
  vim.notify = function(text)
    told[#told + 1] = text
  end
  vim.ui.input = function(_, done)
    vim.schedule(function()
      done(({ nil, "", "because" })[math.random(1, 3)])
    end)
  end
  exits, setups, waiting, chats = 0, 0, {}, {}
  local function act(self, args, opts)
    local how = args.how
    if how == "throw" then
      error({ code = args.n })
    end
    if how == "sync" then
      return { status = "success", data = args.n }
    end
    if how == "wrong" then
      return { status = "fine" }
    end
    if how == "error" then
      return { status = "error", data = { args.n } }
    end
    if how == "twice" then
      opts.output_cb({ status = "success", data = 1 })
      opts.output_cb({ status = "error", data = 2 })
      return { status = "success", data = 3 }
    end
    if how == "async" then
      vim.defer_fn(function()
        opts.output_cb({ status = "success", data = args.n })
      end, args.n % 20)
      return
    end
    if how == "fast" then
      local timer = vim.uv.new_timer()
      timer:start(args.n % 7, 0, function()
        timer:close()
        opts.output_cb({ status = args.n % 2 == 0 and "success" or "error", data = args.n })
      end)
      return
    end
    if how == "job" then
      opts.register_job(vim.system({ "sleep", "0.0" .. args.n % 10 }, {}, function()
        opts.output_cb({ status = "success", data = "slept" })
      end))
      return
    end
    if how == "stop" then
      self.chat:stop()
      return { status = "success", data = 1 }
    end
    if how == "close" then
      self.chat:close()
      return
    end
    if how == "wipe" then
      pcall(vim.api.nvim_buf_delete, self.chat.bufnr, { force = true })
      return { status = "success", data = 1 }
    end
    if how == "more" then
      self:execute(self.chat, { { name = "plain", arguments = { how = "sync", n = args.n } } })
      return { status = "success", data = 1 }
    end
    if how == "say" then
      self.chat:add_message({ role = "user", content = "from a tool" })
      self.chat:submit()
      return { status = "success", data = 1 }
    end
    if how == "skip" then
      self.chat:skip()
      return
    end
    if how == "clear" then
      self.chat:clear()
      return { status = "success", data = 1 }
    end
    -- silent: only its limit ends it; a late answer comes for some
    waiting[#waiting + 1] = opts.output_cb
  end
  local hows = {
    "throw",
    "sync",
    "sync",
    "wrong",
    "error",
    "twice",
    "async",
    "async",
    "fast",
    "job",
    "stop",
    "close",
    "wipe",
    "more",
    "say",
    "skip",
    "silent",
    "silent",
    "clear",
  }
  local handlers = {
    setup = function()
      setups = setups + 1
      if math.random(20) == 1 then
        error("setup")
      end
    end,
    on_exit = function()
      exits = exits + 1
      if math.random(20) == 1 then
        error("exit")
      end
    end,
  }
  local function output(name)
    return function(self, _, meta)
      local n = math.random(12)
      if n == 1 then
        error("output")
      end
      if n == 2 then
        return
      end
      meta.tools.chat:add_tool_output(self, { content = name, display = n ~= 3 and name .. "\nshown" })
      if n == 4 then
        meta.tools.chat:add_tool_output(self, "and more")
      end
      if n == 5 then
        meta.tools.chat:stop()
      end
    end
  end
  local outputs = {
    success = output("success"),
    error = output("error"),
    rejected = output("rejected"),
    cancelled = output("cancelled"),
  }
  tools = {
    plain = tool("plain", { act }, { handlers = handlers, output = outputs, opts = { timeout = 60 } }),
    pair = tool("pair", { act, act }, { handlers = handlers, opts = { timeout = 60 } }),
    asks = tool(
      "asks",
      { act },
      { handlers = handlers, output = outputs, opts = { timeout = 60, require_approval_before = true } }
    ),
    beside = tool("beside", { act }, { output = outputs, opts = { timeout = 60, parallel = true } }),
    command = tool("command", { "echo ${word}; sleep 0.01; exit $(( ${word} % 2 ))" }, {
      env = function(self)
        return { word = self.args.n }
      end,
      opts = { timeout = 2000 },
    }),
  }
  local names = { "plain", "plain", "pair", "asks", "beside", "beside", "command", "missing" }
  function turn()
    local kind = math.random(10)
    if kind == 1 then
      return { text = "half", error = "failed" }
    end
    if kind == 2 then
      return { chunks = { "some ", "text\n", "## Me\n" }, delay_ms = math.random(30) }
    end
    if kind == 3 then
      return { text = "hanging", hang = true }
    end
    if kind <= 5 then
      return { reasoning = "hm", text = "done" }
    end
    local calls = {}
    for i = 1, math.random(5) do
      local arguments = { how = hows[math.random(#hows)], n = math.random(1000) }
      if math.random(15) == 1 then
        arguments = '{"how":'
      end
      calls[i] = { name = names[math.random(#names)], arguments = arguments }
    end
    return { text = math.random(2) == 1 and "calling" or nil, tool_calls = calls, delay_ms = math.random(5) }
  end
  require("lathe").setup({
    adapters = {
      http = {
        fake = require("lathe.adapters").extend("scripted", {
          turns = function()
            return turn()
          end,
        }),
      },
    },
    interactions = { chat = { adapter = "fake", tools = tools } },
  })
  function alive()
    return vim.tbl_filter(function(c)
      return not c.is_closing
    end, chats)
  end
  function some()
    local list = alive()
    return list[1] and list[math.random(#list)]
  end
  function new()
    local chat = require("lathe").chat({ tools = vim.tbl_keys(tools), hidden = math.random(4) == 1 })
    chats[#chats + 1] = chat
  end
  -- The results of all that is left, in pairs; each message of calls right before its results.
  function unpaired()
    for _, one in ipairs(chats) do
      local awaited, kept = {}, one.messages
      for i, message in ipairs(kept) do
        if message.role == "tool" then
          if table.remove(awaited, 1) ~= message.tools.call_id then
            return ("chat %d, message %d: a result without its call"):format(one.id, i)
          end
        else
          if #awaited > 0 then
            return ("chat %d, message %d: %d calls without result"):format(one.id, i, #awaited)
          end
          for _, call in ipairs(message.tools and message.tools.calls or {}) do
            awaited[#awaited + 1] = call.id
          end
        end
      end
      if #awaited > 0 and not one.is_closing then
        return ("chat %d: %d calls without result at the end"):format(one.id, #awaited)
      end
    end
    return ""
  end
end

function M.is_settled()
  local counts = require("lathe.core").lib.counts()
  return counts.events == 0
    and counts.effects == 0
    and counts.commands == 0
    and counts.chats == #alive()
    and #vim.tbl_filter(function(c)
      return c.is_running
    end, alive()) == 0
end

return M
