-- Agent generation: functions that hand on what they found. The first one looks whether it was given anything.
return {
  name = "pipeline_agent",
  cmds = {
    function(self, args, input)
      local words = input and input.data or vim.split(args.text, " ")
      return { status = "success", data = words }
    end,
    function(self, args, input)
      assert(input.status == "success", "no status")
      return { status = "success", data = vim.tbl_map(string.upper, input.data) }
    end,
    function(self, args, input, output_handler)
      vim.schedule(function()
        output_handler({ status = "success", data = table.concat(input.data, "-") })
      end)
    end,
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "pipeline_agent",
      description = "Join words",
      parameters = { type = "object", properties = { text = { type = "string" } }, required = { "text" } },
    },
  },
  output = {
    success = function(self, agent, cmd, stdout)
      if #stdout == 3 then
        agent.chat:add_tool_output(self, stdout[3])
      end
    end,
  },
}
