-- The same with a type, as the Responses API has it, and a field that may be null.
return {
  name = "flat_schema_typed",
  cmds = {
    function(self, args, opts)
      local unit = args.unit == vim.NIL and "null" or args.unit or "none"
      return { status = "success", data = args.city .. " in " .. unit }
    end,
  },
  schema = {
    type = "function",
    name = "flat_schema_typed",
    description = "Tell the temperature",
    strict = true,
    parameters = {
      type = "object",
      properties = {
        city = { type = "string" },
        unit = { type = { "string", "null" }, enum = { "celsius", "fahrenheit", vim.NIL } },
      },
      required = { "city", "unit" },
      additionalProperties = false,
    },
  },
  output = {
    success = function(self, stdout, meta)
      meta.tools.chat:add_tool_output(self, { content = stdout[1] })
    end,
  },
}
