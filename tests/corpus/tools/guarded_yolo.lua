-- The author wants a question even in auto mode, by the name that this had.
return {
  name = "guarded_yolo",
  cmds = {
    function(self, args)
      yolo_ran = (yolo_ran or 0) + 1
      return { status = "success", data = "deleted" }
    end,
  },
  schema = {
    type = "function",
    ["function"] = { name = "guarded_yolo", description = "Delete", parameters = { type = "object" } },
  },
  opts = { allowed_in_yolo_mode = false },
  output = {
    success = function(self, tools, cmd, stdout)
      tools.chat:add_tool_output(self, stdout[1])
    end,
  },
}
