-- `rejected` reads a field that is not there.
return {
  name = "stubborn_reject",
  cmds = {
    function(self, args)
      return { status = "success", data = "done" }
    end,
  },
  schema = {
    type = "function",
    ["function"] = { name = "stubborn_reject", description = "Do it", parameters = { type = "object" } },
  },
  opts = { require_approval_before = true },
  output = {
    rejected = function(self, agent, cmd)
      agent.chat:add_tool_output(self, cmd.words.first)
    end,
  },
}
