-- A schema without the envelope: name, description and parameters stand in it at once.
return {
  name = "flat_schema",
  cmds = {
    function(self, args)
      return { status = "success", data = args.city .. " is sunny" }
    end,
  },
  schema = {
    name = "flat_schema",
    description = "Tell the weather",
    parameters = {
      type = "object",
      properties = { city = { type = "string" } },
      required = { "city" },
    },
  },
  output = {
    success = function(self, agent, cmd, stdout)
      agent.chat:add_tool_output(self, stdout[1])
    end,
  },
}
