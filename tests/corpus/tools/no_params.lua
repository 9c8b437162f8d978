-- Functions with fewer parameters than any form has; the tool remembers what it needs.
local last

local tool = {
  name = "no_params",
  schema = {
    type = "function",
    ["function"] = { name = "no_params", description = "Say the time", parameters = { type = "object" } },
  },
}

tool.cmds = {
  function()
    return { status = "success", data = "noon" }
  end,
  function(self)
    last = self
    return { status = "success", data = "midnight" }
  end,
}
tool.handlers = {
  setup = function()
    last = nil
  end,
  on_exit = function(self)
    left = self.name
  end,
}
tool.output = {
  prompt = function()
    return "What time is it?"
  end,
  cmd_string = function()
    return "clock"
  end,
  success = function()
    if last then
      last.chat:add_tool_output(last.tool, "it is " .. last.stdout[#last.stdout])
    end
  end,
  error = function(self)
    last.chat:add_tool_output(self, "no time")
  end,
}

return tool
