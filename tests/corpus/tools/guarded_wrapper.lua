-- Every function is wrapped in one that catches errors, which hides how many parameters it takes.
local function guard(fn)
  return function(...)
    local ok, result = xpcall(fn, debug.traceback, ...)
    if ok then
      return result
    end
    caught = result
  end
end

return {
  name = "guarded_wrapper",
  cmds = {
    guard(function(agent, args, opts)
      return { status = "success", data = args.word }
    end),
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "guarded_wrapper",
      description = "Repeat a word",
      parameters = { type = "object", properties = { word = { type = "string" } } },
    },
  },
  handlers = {
    setup = guard(function(self, agent)
      wrapped_chat = agent.chat
    end),
  },
  output = {
    success = guard(function(self, agent, cmd, stdout)
      agent.chat:add_tool_output(self, "wrapped " .. tostring(stdout[1]))
    end),
  },
}
