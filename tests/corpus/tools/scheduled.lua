-- Output functions in `vim.schedule_wrap`, since authors were told that results may come in a fast event.
return {
  name = "scheduled",
  cmds = {
    function(self, args, input, output_handler)
      local timer = vim.uv.new_timer()
      timer:start(5, 0, function()
        timer:close()
        if args.silent then
          output_handler({ status = "success" })
        else
          output_handler({ status = args.fails and "error" or "success", data = "timer" })
        end
      end)
    end,
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "scheduled",
      description = "Wait for a timer",
      parameters = {
        type = "object",
        properties = { fails = { type = "boolean" }, silent = { type = "boolean" } },
      },
    },
  },
  output = {
    success = vim.schedule_wrap(function(self, agent, cmd, stdout)
      agent.chat:add_tool_output(self, "after the " .. tostring(stdout[1]))
    end),
    error = vim.schedule_wrap(function(self, stderr, meta)
      meta.tools.chat:add_tool_output(self, { content = "error after the " .. stderr[#stderr] })
    end),
  },
}
