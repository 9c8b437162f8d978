-- An output function of a form that nobody has heard of.
return {
  name = "unknown_form",
  cmds = {
    function(self, args)
      unknown_ran = true
      return { status = "success", data = "ran" }
    end,
  },
  schema = {
    type = "function",
    ["function"] = { name = "unknown_form", description = "?", parameters = { type = "object" } },
  },
  output = {
    success = function(chat, tool, call, args, stdout, stderr, done)
      chat:add(tool, call, args, stdout, stderr, done)
    end,
  },
}
