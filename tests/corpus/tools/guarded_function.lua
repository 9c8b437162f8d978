-- The older option with a function, which looks at the chat.
return {
  name = "guarded_function",
  cmds = {
    function(self, args)
      return { status = "success", data = "wrote " .. args.path }
    end,
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "guarded_function",
      description = "Write",
      parameters = { type = "object", properties = { path = { type = "string" } }, required = { "path" } },
    },
  },
  opts = {
    requires_approval = function(self, agent)
      return agent.chat ~= nil and self.args.path:sub(1, 1) == "/"
    end,
  },
  output = {
    success = function(self, agent, cmd, stdout)
      agent.chat:add_tool_output(self, stdout[1])
    end,
  },
}
