-- A tool that ends well and says nothing about it.
return {
  name = "quiet_success",
  cmds = {
    function(self, args)
      quiet_ran = true
      return { status = "success" }
    end,
  },
  schema = {
    type = "function",
    ["function"] = { name = "quiet_success", description = "Ring a bell", parameters = { type = "object" } },
  },
  output = {
    success = function(self, agent, cmd, stdout)
      quiet_stdout = #stdout
    end,
  },
}
