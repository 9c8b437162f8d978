-- Functions and commands in one list: a command's data is its lines.
return {
  name = "mixed_cmds",
  cmds = {
    function(self, args)
      return { status = "success", data = "ignored" }
    end,
    "printf 'one\\ntwo\\n\\n'",
    function(self, args, opts)
      local lines = opts.input.data
      return {
        status = "success",
        data = ("%s %d lines, the last %q, whole %q"):format(opts.input.status, #lines, lines[#lines], tostring(lines)),
      }
    end,
    { cmd = { "printf", "three" }, flag = "printed" },
    function(self, args, input, done)
      done({ status = "success", data = input.data[1] .. " " .. #input.data })
    end,
  },
  schema = {
    type = "function",
    ["function"] = { name = "mixed_cmds", description = "Mix", parameters = { type = "object" } },
  },
  output = {
    success = function(self, stdout, meta)
      if #stdout == 3 or #stdout == 5 then
        meta.tools.chat:add_tool_output(self, { content = stdout[#stdout] })
      end
    end,
  },
}
