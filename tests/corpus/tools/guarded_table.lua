-- The older option with a table, which `prompt_condition` reads; it also got the configuration of all tools.
return {
  name = "guarded_table",
  cmds = {
    function(self, args)
      return { status = "success", data = "edited a " .. args.kind }
    end,
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "guarded_table",
      description = "Edit",
      parameters = {
        type = "object",
        properties = { kind = { type = "string", enum = { "buffer", "file" } } },
        required = { "kind" },
      },
    },
  },
  opts = { requires_approval = { buffer = false, file = true } },
  handlers = {
    prompt_condition = function(self, agent, config)
      assert(agent.chat and config.guarded_table and config.opts)
      return self.opts.requires_approval[self.args.kind]
    end,
  },
  output = {
    prompt = function(self, agent)
      return "Edit the " .. self.args.kind .. "?"
    end,
    success = function(self, agent, cmd, stdout)
      agent.chat:add_tool_output(self, stdout[1])
    end,
  },
}
