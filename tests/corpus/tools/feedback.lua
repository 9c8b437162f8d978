-- The user's reason came as a fourth parameter.
return {
  name = "feedback",
  cmds = {
    function(self, args)
      return { status = "success", data = "planted" }
    end,
  },
  schema = {
    type = "function",
    ["function"] = { name = "feedback", description = "Plant a tree", parameters = { type = "object" } },
  },
  opts = { require_approval_before = true },
  output = {
    rejected = function(self, tools, cmd, opts)
      local message = "The user will not plant"
      if opts and opts.reason then
        message = message .. ": " .. opts.reason
      end
      tools.chat:add_tool_output(self, message .. " (" .. type(cmd) .. ")")
    end,
    cancelled = function(self, tools, cmd)
      tools.chat:add_tool_output(self, "Planting was called off (" .. type(cmd) .. ")")
    end,
  },
}
