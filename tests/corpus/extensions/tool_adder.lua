-- An extension that puts its tools and a group into the configuration, by the older names.
local Extension = {}

---@param opts { prefix: string? }
function Extension.setup(opts)
  local tools = require("codecompanion.config").strategies.chat.tools
  local prefix = opts.prefix or "x"
  for _, word in ipairs({ "hello", "bye" }) do
    local name = prefix .. "_" .. word
    tools[name] = {
      description = "Say " .. word,
      opts = { requires_approval = word == "bye" },
      callback = {
        name = name,
        cmds = {
          function(self, args)
            return { status = "success", data = word .. " " .. (args.who or "all") }
          end,
        },
        schema = {
          type = "function",
          ["function"] = {
            name = name,
            description = "Say " .. word,
            parameters = { type = "object", properties = { who = { type = "string" } } },
          },
        },
        output = {
          success = function(self, agent, cmd, stdout)
            agent.chat:add_tool_output(self, stdout[1])
          end,
        },
      },
    }
  end
  tools.groups[prefix] = { description = "Greetings", tools = { prefix .. "_hello", prefix .. "_bye" } }
  -- Users may not want the others.
  tools.run_command = nil
end

Extension.exports = {
  words = function()
    return { "hello", "bye" }
  end,
}

return Extension
