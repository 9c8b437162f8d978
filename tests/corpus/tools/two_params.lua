-- Output functions with two parameters: the agent in one tool, the list in the other.
local function schema(name)
  return {
    type = "function",
    ["function"] = { name = name, description = name, parameters = { type = "object" } },
  }
end

local function nothing()
  return { status = "success" }
end

return {
  two_agent = {
    name = "two_agent",
    cmds = { nothing },
    schema = schema("two_agent"),
    output = {
      success = function(self, agent)
        agent.chat:add_tool_output(self, "done for " .. agent.tool.name)
      end,
    },
  },
  three_agent = {
    name = "three_agent",
    cmds = { nothing },
    schema = schema("three_agent"),
    output = {
      success = function(self, agent, cmd)
        agent.chat:add_tool_output(self, "done with a " .. type(cmd))
      end,
    },
  },
  two_list = {
    name = "two_list",
    cmds = {
      function(self)
        two_chat = self.chat
        return { status = "success", data = "x" }
      end,
      nothing,
    },
    schema = schema("two_list"),
    output = {
      success = function(self, stdout)
        two_chat:add_tool_output(self, { content = table.concat(stdout, ",") .. #stdout })
      end,
    },
  },
}
