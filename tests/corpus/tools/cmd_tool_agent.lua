-- `extends = "cmd_tool"` with an output function of the older form in place of a default.
return {
  extends = "cmd_tool",
  name = "cmd_tool_agent",
  description = "Count words",
  schema = { properties = { text = { type = "string" } }, required = { "text" } },
  build_cmd = function(args)
    return "printf %s " .. vim.fn.shellescape(args.text) .. " | wc -w"
  end,
  output = {
    success = function(self, agent, cmd, stdout)
      agent.chat:add_tool_output(self, ("%s words by `%s`"):format(vim.trim(stdout[1][1]), cmd.cmd or cmd))
    end,
  },
}
