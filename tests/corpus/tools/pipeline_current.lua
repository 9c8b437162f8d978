-- Today's form: `opts.input` is the result of the function before, a table with `status` and `data`.
return {
  name = "pipeline_current",
  cmds = {
    function(self, args, opts)
      assert(opts.input == nil, "the first function has no input")
      return { status = "success", data = args.n * 2, note = "kept" }
    end,
    function(self, args, opts)
      return { status = "success", data = opts.input.data + 1, note = opts.input.note }
    end,
    function(self, args, opts)
      vim.schedule(function()
        opts.output_cb({ status = "success", data = opts.input.note .. " " .. opts.input.data })
      end)
    end,
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "pipeline_current",
      description = "Double and add one",
      parameters = { type = "object", properties = { n = { type = "integer" } }, required = { "n" } },
    },
  },
  output = {
    success = function(self, stdout, meta)
      if meta.cmd == self.cmds[3] then
        meta.tools.chat:add_tool_output(self, { content = stdout[#stdout], display = "piped" })
      end
    end,
  },
}
