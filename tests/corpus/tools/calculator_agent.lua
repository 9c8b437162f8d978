-- Agent generation: a synchronous function, handlers and output functions that get the agent.
return {
  name = "calculator_agent",
  cmds = {
    function(self, args, input)
      local left, right = tonumber(args.left), tonumber(args.right)
      if not left or not right then
        return { status = "error", data = "Both numbers are needed" }
      end
      if args.operation == "divide" and right == 0 then
        return { status = "error", data = "Cannot divide by zero" }
      end
      local result = args.operation == "divide" and left / right or left * right
      return { status = "success", data = result }
    end,
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "calculator_agent",
      description = "Multiply or divide",
      parameters = {
        type = "object",
        properties = {
          left = { type = "integer" },
          right = { type = "integer" },
          operation = { type = "string", enum = { "multiply", "divide" } },
        },
        required = { "left", "right", "operation" },
        additionalProperties = false,
      },
      strict = true,
    },
  },
  handlers = {
    setup = function(self, agent)
      seen = seen or {}
      table.insert(seen, "setup " .. tostring(agent.chat.bufnr == agent.bufnr))
    end,
    on_exit = function(self, agent)
      table.insert(seen, "on_exit " .. agent.status .. " " .. tostring(agent.chat ~= nil))
    end,
  },
  output = {
    success = function(self, agent, cmd, stdout)
      local chat = agent.chat
      return chat:add_tool_output(self, tostring(stdout[1]))
    end,
    error = function(self, agent, cmd, stderr, stdout)
      return agent.chat:add_tool_output(self, "Failed: " .. tostring(stderr[#stderr]) .. " (" .. #stdout .. ")")
    end,
  },
}
