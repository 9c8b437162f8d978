-- `required` as a boolean beside each property, nested ones too.
return {
  name = "property_required",
  cmds = {
    function(self, args)
      return { status = "success", data = args.title .. " for " .. args.owner.name }
    end,
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "property_required",
      description = "Open a ticket",
      parameters = {
        type = "object",
        properties = {
          title = { type = "string", required = true },
          body = { type = "string", required = false },
          owner = {
            type = "object",
            required = true,
            properties = { name = { type = "string", required = true }, mail = { type = "string" } },
          },
        },
      },
    },
  },
  output = {
    success = function(self, agent, cmd, stdout)
      agent.chat:add_tool_output(self, stdout[1])
    end,
  },
}
