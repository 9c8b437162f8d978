-- Handlers and output functions that are objects: tables that can be called.
local function callable(fn)
  return setmetatable({}, {
    __call = function(_, ...)
      return fn(...)
    end,
  })
end

local Counter = setmetatable({ count = 0 }, {
  __call = function(counter, self, agent, cmd, stdout)
    counter.count = counter.count + 1
    agent.chat:add_tool_output(self, ("%s, call %d"):format(stdout[1], counter.count))
  end,
})

return {
  name = "callable",
  cmds = {
    callable(function(self, args)
      return { status = "success", data = "called with " .. args.word }
    end),
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "callable",
      description = "Call an object",
      parameters = { type = "object", properties = { word = { type = "string" } }, required = { "word" } },
    },
  },
  handlers = {
    setup = callable(function(self, meta)
      callable_chat = meta.tools.chat
    end),
  },
  output = {
    cmd_string = callable(function(self)
      return "object " .. self.args.word
    end),
    success = Counter,
  },
}
