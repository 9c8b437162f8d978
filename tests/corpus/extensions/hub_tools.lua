-- An extension that replaces the whole table of tools by one that it has merged.
local function make(name, fn)
  return {
    description = name,
    visible = false,
    callback = {
      name = name,
      cmds = {
        function(agent, args, _, output_handler)
          fn(args, function(text)
            output_handler({ status = "success", data = text })
          end)
        end,
      },
      system_prompt = function()
        return ("You can use the %s tool\n"):format(name)
      end,
      output = {
        success = function(self, agent, cmd, stdout)
          agent.chat:add_tool_output(self, stdout[#stdout])
        end,
      },
      schema = {
        type = "function",
        ["function"] = {
          name = name,
          description = name,
          parameters = { type = "object", properties = { uri = { type = "string" } }, required = { "uri" } },
        },
      },
    },
  }
end

return {
  setup = function(opts)
    local ok, config = pcall(require, "codecompanion.config")
    if not ok then
      return
    end
    assert(config.strategies.chat.tools.hub == nil, "the tool is there already")
    assert(config.strategies.chat.tools.groups.hub == nil, "the group is there already")
    local tools = {
      hub_read = make("hub_read", function(args, done)
        vim.schedule(function()
          done("read " .. args.uri)
        end)
      end),
      groups = {
        hub = {
          description = "The hub",
          system_prompt = function(group)
            return "Hub: " .. table.concat(group.tools, " ")
          end,
          tools = { "hub_read" },
        },
      },
    }
    config.strategies.chat.tools = vim.tbl_deep_extend("force", config.strategies.chat.tools, tools)
    -- Slash commands and variables that other parts would offer.
    config.strategies.chat.slash_commands["hub"] = { description = "Hub", callback = function() end }
    config.strategies.chat.variables["hub"] = { description = "Hub", callback = function() end }
  end,
}
