-- Agent generation: functions that act on files, guarded by the older name of the option; an `action` chooses what to do.
local actions = {}

function actions.create(action)
  local file = assert(io.open(action.path, "w"))
  file:write(action.contents or "")
  file:close()
  return "created " .. vim.fs.basename(action.path)
end

function actions.delete(action)
  assert(os.remove(action.path))
  return "deleted " .. vim.fs.basename(action.path)
end

---@class Files
local Files = {}

Files.name = "file_writer"
Files.actions = actions
Files.opts = { user_approval = true }
Files.cmds = {
  function(self, args)
    local ok, outcome = pcall(actions[args.action], args)
    if not ok then
      return { status = "error", data = outcome }
    end
    return { status = "success", data = outcome }
  end,
}
Files.schema = {
  type = "function",
  ["function"] = {
    name = "file_writer",
    description = "Create and delete files",
    parameters = {
      type = "object",
      properties = {
        action = { type = "string", enum = { "create", "delete" } },
        path = { type = "string" },
        contents = { type = "string" },
      },
      required = { "action", "path" },
    },
  },
}
Files.handlers = {
  on_exit = function()
    exits = (exits or 0) + 1
  end,
}
Files.output = {}

function Files.output.prompt(self, agent)
  return ("%s the file %s?"):format(self.args.action, vim.fs.basename(self.args.path))
end

-- For functions the "command" was the arguments of the call.
function Files.output.success(self, agent, action, stdout)
  agent.chat:add_tool_output(self, ("%s: %s"):format(action.action, stdout[1]))
end

function Files.output.error(self, agent, action, stderr)
  agent.chat:add_tool_output(self, ("%s of %s went wrong: %s"):format(action.action, action.path, stderr[1]))
end

return Files
