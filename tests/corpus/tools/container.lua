-- Agent generation: commands with values of `env`, as a tool that runs code in a container.
return {
  name = "container",
  cmds = {
    { "echo", "pull", "${lang}" },
    { "echo", "run", "${lang}", "${input}" },
  },
  env = function(self)
    return { lang = self.args.lang, input = self.args.code }
  end,
  schema = {
    type = "function",
    ["function"] = {
      name = "container",
      description = "Run code",
      parameters = {
        type = "object",
        properties = { lang = { type = "string" }, code = { type = "string" } },
        required = { "lang", "code" },
      },
    },
  },
  output = {
    success = function(self, agent, cmd, stdout)
      if #stdout == #self.cmds then
        agent.chat:add_tool_output(self, table.concat(vim.iter(stdout):flatten():totable(), "\n"))
      end
    end,
  },
}
