-- run_command: runs a command that the model writes. The settings are in its entry of the configuration.

---@type lathe.CmdTool
local permission = require("lathe.permission")

return {
  name = "run_command",
  extends = "cmd_tool",
  description = "Run a shell command (POSIX sh) in the folder of the user's project and read what it prints, and its "
    .. "exit code. It gets no input, so it must not ask for any. The user may be asked before it runs.",
  schema = {
    properties = {
      cmd = {
        type = "string",
        description = "The command, as it would be typed in a shell. Pipes, `&&`, quotes and several lines all work.",
      },
      flag = {
        type = "string",
        description = 'Only for a run of tests: "testing". Whether it succeeded is recorded under this name.',
      },
    },
    required = { "cmd" },
  },
  build_cmd = function(args)
    return args.cmd, args.flag
  end,
  opts = { safe_commands = {} },
  permission = {
    key = "bash",
    values = function(args)
      return { args.cmd }
    end,
  },
  gates = {
    is_safe = function(self)
      return permission.is_safe(self.args.cmd, self.opts.safe_commands)
    end,
    judge_context = function(self)
      return "Runs this command in a shell on the user's machine: " .. self.args.cmd
    end,
  },
}
