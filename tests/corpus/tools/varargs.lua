-- Functions that take whatever comes: they read it as today's form has it.
local function log(name)
  return function(...)
    seen = seen or {}
    local self, meta = ...
    seen[#seen + 1] = name .. " " .. self.name .. " " .. tostring(meta.tools.chat == meta.tools.tool.chat_of(meta))
  end
end

return {
  name = "varargs",
  chat_of = function(meta)
    return meta.tools.chat
  end,
  cmds = {
    function(...)
      local tools, args, opts = ...
      opts.output_cb({ status = args.fails and "error" or "success", data = tools.tool.name .. " ran" })
    end,
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "varargs",
      description = "Take anything",
      parameters = { type = "object", properties = { fails = { type = "boolean" } } },
    },
  },
  handlers = { setup = log("setup"), on_exit = log("on_exit") },
  output = {
    success = function(...)
      local self, stdout, meta = ...
      meta.tools.chat:add_tool_output(self, { content = stdout[#stdout] })
    end,
    error = function(...)
      local args = { ... }
      args[3].tools.chat:add_tool_output(args[1], { content = "bad: " .. args[2][#args[2]] })
    end,
    rejected = function(...)
      local self, meta = ...
      meta.tools.chat:add_tool_output(self, { content = "no: " .. tostring(meta.opts.reason) })
    end,
  },
}
