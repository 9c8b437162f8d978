-- Handlers that read and write the state of the tool system itself.
return {
  name = "state_keeper",
  cmds = {
    function(self, args)
      self.kept = (self.kept or 0) + 1
      return { status = "success", data = args.word }
    end,
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "state_keeper",
      description = "Keep a word",
      parameters = { type = "object", properties = { word = { type = "string" } }, required = { "word" } },
    },
  },
  handlers = {
    setup = function(self, agent)
      agent.marker = "set up"
      assert(type(agent.tools_config) == "table" and agent.constants.STATUS_SUCCESS == "success")
    end,
    on_exit = function(self, agent)
      state = ("%s, kept %d, stdout %s, %s"):format(agent.marker, agent.kept, agent.stdout[1], agent.status)
    end,
  },
  output = {
    success = function(self, agent)
      agent.chat:add_tool_output(self, agent.marker .. ": " .. table.concat(agent.stdout, ","))
    end,
  },
}
