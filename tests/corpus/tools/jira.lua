-- Today's form: a job that is registered, and answers by the callback of the options.
return {
  name = "jira",
  cmds = {
    function(self, args, opts)
      local done = vim.schedule_wrap(opts.output_cb)
      local job = vim.system({ "printf", "%s: open", args.key }, { text = true }, function(out)
        if out.code ~= 0 then
          return done({ status = "error", data = out.stderr })
        end
        done({ status = "success", data = out.stdout })
      end)
      opts.register_job(job)
    end,
  },
  system_prompt = function(schema)
    return "Use " .. schema["function"].name .. " for tickets."
  end,
  schema = {
    type = "function",
    ["function"] = {
      name = "jira",
      description = "Look up a ticket",
      parameters = {
        type = "object",
        properties = { key = { type = "string", description = "Such as ABC-1" } },
        required = { "key" },
        additionalProperties = false,
      },
      strict = true,
    },
  },
  output = {
    prompt = function(self, meta)
      return "Look up " .. self.args.key .. " for chat " .. meta.tools.chat.id .. "?"
    end,
    success = function(self, stdout, meta)
      meta.tools.chat:add_tool_output(self, { content = stdout[#stdout], display = "Looked up " .. self.args.key })
    end,
    error = function(self, stderr, meta)
      meta.tools.chat:add_tool_output(self, { content = tostring(stderr[#stderr]) })
    end,
  },
}
