-- run_command: runs a command that the model writes. The settings are in its entry of the configuration.

---Whether a command may run without a question in Auto mode: only one that the user has listed, letter for letter. Part of
---a longer text is never enough: what follows `;` or `--` could do anything.
---@param command any
---@param listed any `opts.safe_commands`
---@return boolean
local function is_safe(command, listed)
  return type(command) == "string"
    and command:find("%S") ~= nil
    and type(listed) == "table"
    and vim.list_contains(listed, command)
end

---@type lathe.CmdTool
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
  gates = {
    is_safe = function(self)
      return is_safe(self.args.cmd, self.opts.safe_commands)
    end,
    judge_context = function(self)
      return "Runs this command in a shell on the user's machine: " .. self.args.cmd
    end,
  },
}
