-- Parameters whose names say nothing, and functions whose names were stripped with what else helps to find faults.
local function stripped(fn)
  return assert(loadstring(string.dump(fn, true)))
end

local function schema(name)
  return {
    type = "function",
    ["function"] = {
      name = name,
      description = name,
      parameters = { type = "object", properties = { path = { type = "string" } } },
    },
  }
end

local function found(_, args)
  return { status = "success", data = "found " .. tostring(args.path) }
end

return {
  odd_older = {
    name = "odd_older",
    cmds = { found },
    schema = schema("odd_older"),
    handlers = {
      setup = stripped(function(self, agent)
        agent.prefix = agent.chat.id > 0 and "chat" or "none"
      end),
    },
    output = {
      -- The agent and the arguments, by other names.
      success = function(self, a, c)
        a.chat:add_tool_output(self, ("%s %s %s"):format(a.prefix, c.path, a.stdout[1]))
      end,
    },
  },
  odd_newest = {
    name = "odd_newest",
    cmds = {
      found,
      function(self, args, o)
        return { status = "success", data = o.input.data .. ", again" }
      end,
    },
    schema = schema("odd_newest"),
    output = {
      success = function(self, a, b)
        if #a == 2 then
          b.tools.chat:add_tool_output(self, { content = table.concat(a, "; ") .. tostring(b.cmd == self.cmds[2]) })
        end
      end,
    },
  },
  odd_stripped = {
    name = "odd_stripped",
    cmds = {
      stripped(function(self, args, input)
        return { status = "success", data = args.path .. " " .. tostring(input.status) }
      end),
      stripped(function(self, args, input, done)
        done({ status = "success", data = input.data .. " " .. input.status })
      end),
    },
    schema = schema("odd_stripped"),
    output = {
      success = stripped(function(self, agent, cmd)
        if #agent.stdout == 2 then
          agent.chat:add_tool_output(self, agent[2] .. " " .. cmd.path)
        end
      end),
      error = stripped(function(self, stderr, meta)
        meta.tools.chat:add_tool_output(self, { content = stderr[#stderr] })
      end),
    },
  },
  -- What `setup` puts there is looked at before anything runs.
  odd_setup = {
    name = "odd_setup",
    cmds = {
      function()
        odd_ran = true
        return { status = "success", data = "ran" }
      end,
    },
    schema = schema("odd_setup"),
    output = {},
    handlers = {
      setup = function(self)
        if self.args.path == "cmd" then
          self.cmds = { function(a, b, c, d, e, f) end }
        else
          self.output.success = function(a, b, c, d, e, f) end
        end
      end,
    },
  },
}
