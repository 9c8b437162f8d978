-- The calculator as a tool in a file of its own: put it below `lua/`, and name it with `path` in the entry of the tool.

return {
  description = "Perform calculations",
  name = "calculator",
  cmds = {
    ---@param self lathe.Tools
    ---@param args table
    ---@param opts { input: any, output_cb: fun(result: table), register_job: fun(job: vim.SystemObj) }
    ---@return nil|{ status: "success"|"error", data: any }
    function(self, args, opts)
      local num1 = tonumber(args.num1)
      local num2 = tonumber(args.num2)
      local operation = args.operation

      if not num1 then
        return { status = "error", data = "First number is missing or invalid" }
      end

      if not num2 then
        return { status = "error", data = "Second number is missing or invalid" }
      end

      if not operation then
        return { status = "error", data = "Operation is missing" }
      end

      local result
      if operation == "add" then
        result = num1 + num2
      elseif operation == "subtract" then
        result = num1 - num2
      elseif operation == "multiply" then
        result = num1 * num2
      elseif operation == "divide" then
        if num2 == 0 then
          return { status = "error", data = "Cannot divide by zero" }
        end
        result = num1 / num2
      else
        return {
          status = "error",
          data = "Invalid operation: must be add, subtract, multiply, or divide",
        }
      end

      return { status = "success", data = result }
    end,
  },
  system_prompt = [[## Calculator Tool (`calculator`)

## CONTEXT
- You have access to a calculator tool running within CodeCompanion, in Neovim.
- You can use it to add, subtract, multiply or divide two numbers.

### OBJECTIVE
- Do a mathematical operation on two numbers when the user asks

### RESPONSE
- Always use the structure above for consistency.
]],
  schema = {
    type = "function",
    ["function"] = {
      name = "calculator",
      description = "Perform simple mathematical operations on a user's machine",
      parameters = {
        type = "object",
        properties = {
          num1 = {
            type = "integer",
            description = "The first number in the calculation",
          },
          num2 = {
            type = "integer",
            description = "The second number in the calculation",
          },
          operation = {
            type = "string",
            enum = { "add", "subtract", "multiply", "divide" },
            description = "The mathematical operation to perform on the two numbers",
          },
        },
        required = {
          "num1",
          "num2",
          "operation",
        },
        additionalProperties = false,
      },
      strict = true,
    },
  },
  handlers = {
    ---@param self lathe.Tools.Tool
    ---@param meta { tools: lathe.Tools }
    setup = function(self, meta)
      return vim.notify("setup function called", vim.log.levels.INFO)
    end,
    ---@param self lathe.Tools.Tool
    ---@param meta { tools: lathe.Tools }
    on_exit = function(self, meta)
      return vim.notify("on_exit function called", vim.log.levels.INFO)
    end,
  },
  output = {
    ---@param self lathe.Tools.Tool
    ---@param stdout table
    ---@param meta { tools: lathe.Tools, cmd: table }
    success = function(self, stdout, meta)
      return meta.tools.chat:add_tool_output(self, { content = tostring(stdout[#stdout]) })
    end,
    ---@param self lathe.Tools.Tool
    ---@param stderr table
    ---@param meta { tools: lathe.Tools, cmd: table }
    error = function(self, stderr, meta)
      return meta.tools.chat:add_tool_output(self, { content = tostring(stderr[#stderr]) })
    end,
  },
}
