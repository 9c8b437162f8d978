-- Agent generation: `setup` makes the command, which has a flag; the question, the label and the refusal name it.
local function to_cmd(args)
  return { cmd = vim.split(args.cmd, " "), flag = args.flag }
end

return {
  name = "test_runner",
  cmds = {},
  schema = {
    type = "function",
    ["function"] = {
      name = "test_runner",
      description = "Run a command",
      parameters = {
        type = "object",
        properties = {
          cmd = { type = "string" },
          flag = { anyOf = { { type = "string" }, { type = "null" } } },
        },
        required = { "cmd", "flag" },
      },
      strict = true,
    },
  },
  handlers = {
    setup = function(self, agent)
      table.insert(self.cmds, to_cmd(self.args))
      setup_chat = agent.chat.id
    end,
  },
  output = {
    cmd_string = function(self, agent)
      return self.args.cmd .. " #" .. agent.chat.id
    end,
    prompt = function(self, agent)
      return ("Run `%s` in chat %d?"):format(table.concat(self.cmds[1].cmd, " "), agent.chat.id)
    end,
    rejected = function(self, agent, cmd)
      agent.chat:add_tool_output(self, ("The user did not want `%s`"):format(table.concat(cmd.cmd, " ")))
    end,
    error = function(self, agent, cmd, stderr)
      agent.chat:add_tool_output(self, table.concat(cmd.cmd, " ") .. " failed: " .. table.concat(stderr[1], "|"))
    end,
    success = function(self, agent, cmd, stdout)
      agent.chat:add_tool_output(self, table.concat(cmd.cmd, " ") .. ": " .. table.concat(stdout[1], "|"))
    end,
  },
  opts = { requires_approval = true },
}
