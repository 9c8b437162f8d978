-- Agent generation: a tool of commands. Its output functions read the command that ran and its lines.
return {
  name = "git_status",
  cmds = {
    { "printf", "' M one.lua\\n?? two.lua\\n'" },
    { "sh", "-c", "'echo branch: main; exit ${code}'" },
  },
  env = function(self)
    return { code = { raw = tostring(self.args.fails and 3 or 0) } }
  end,
  schema = {
    type = "function",
    ["function"] = {
      name = "git_status",
      description = "Show what changed",
      parameters = { type = "object", properties = { fails = { type = "boolean" } } },
    },
  },
  output = {
    success = function(self, agent, cmd, stdout)
      local lines = stdout[#stdout]
      agent.chat:add_tool_output(self, ("%s: %d lines, last `%s`"):format(cmd[1], #lines, lines[#lines]))
    end,
    error = function(self, agent, cmd, stderr, stdout)
      agent.chat:add_tool_output(self, ("%s failed: %s"):format(table.concat(cmd, " "), table.concat(stderr[1], "\n")))
    end,
  },
}
