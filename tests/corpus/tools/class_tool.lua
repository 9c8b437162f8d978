-- Tools as instances of a class: what they share is found through a metatable.
local Base = {
  opts = { requires_approval = true },
  handlers = {
    setup = function(self, agent)
      class_setup = self.label .. " in " .. agent.chat.id
    end,
  },
  output = {
    prompt = function(self, agent)
      return "Let " .. self.label .. " run?"
    end,
    success = function(self, agent, cmd, stdout)
      agent.chat:add_tool_output(self, self:describe(stdout[1]))
    end,
  },
}
Base.__index = Base

function Base.new(name, label, fn)
  return setmetatable({
    name = name,
    label = label,
    schema = {
      type = "function",
      ["function"] = {
        name = name,
        description = label,
        parameters = { type = "object", properties = { n = { type = "number" } }, required = { "n" } },
      },
    },
    cmds = {
      function(self, args)
        return { status = "success", data = fn(args.n) }
      end,
    },
  }, Base)
end

function Base:describe(value)
  return ("%s gives %s"):format(self.label, value)
end

return {
  square = Base.new("square", "Squaring", function(n)
    return n * n
  end),
  negate = Base.new("negate", "Negating", function(n)
    return -n
  end),
}
