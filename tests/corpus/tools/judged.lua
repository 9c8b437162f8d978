-- In auto mode the judge is to look at each call; the option had another name.
return {
  name = "judged",
  cmds = {
    function(self, args)
      judged_ran = (judged_ran or 0) + 1
      return { status = "success", data = "moved " .. args.what }
    end,
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "judged",
      description = "Move something",
      parameters = { type = "object", properties = { what = { type = "string" } }, required = { "what" } },
    },
  },
  opts = { judge_in_yolo_mode = true },
  gates = {
    judge_context = function(self, meta)
      return "Moves " .. self.args.what .. " in chat " .. meta.tools.chat.id
    end,
  },
  output = {
    success = function(self, tools, cmd, stdout)
      tools.chat:add_tool_output(self, stdout[1])
    end,
  },
}
