-- The user's reason as a text.
return {
  name = "feedback_text",
  cmds = {
    function(self, args)
      return { status = "success", data = "felled" }
    end,
  },
  schema = {
    type = "function",
    ["function"] = { name = "feedback_text", description = "Fell a tree", parameters = { type = "object" } },
  },
  opts = { requires_approval = true },
  output = {
    rejected = function(self, agent, cmd, feedback)
      agent.chat:add_tool_output(self, "Not felled. " .. (feedback or ""))
    end,
  },
}
