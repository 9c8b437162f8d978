-- Asks a model by itself, as a search tool that condenses what it found.
local adapters = require("codecompanion.adapters")
local client = require("codecompanion.http")
local config = require("codecompanion.config")
local schema = require("codecompanion.schema")

return {
  name = "summarizer",
  cmds = {
    function(agent, args, _, cb)
      local adapter = vim.deepcopy(adapters.resolve(args.adapter or config.strategies.chat.adapter))
      adapter.opts.stream = false
      local settings = schema.get_default(adapter)
      client.new({ adapter = adapter:map_schema_to_params(settings), user_args = { event = "Summarizer" } }):request({
        messages = adapter:map_roles({
          { role = "system", content = "Be short." },
          { role = "user", content = "Summarise: " .. args.text },
        }),
      }, {
        callback = function(err, data, request_adapter)
          if err then
            return cb({ status = "error", data = err.message or err })
          end
          if data then
            local result = (request_adapter or adapter).handlers.chat_output(adapter, data)
            if result and result.status == "success" then
              return cb({ status = "success", data = vim.trim(result.output.content or "") })
            end
            cb({ status = "error", data = "no content" })
          end
        end,
        done = function()
          requests_done = (requests_done or 0) + 1
        end,
      }, { silent = true })
    end,
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "summarizer",
      description = "Summarise a text",
      parameters = {
        type = "object",
        properties = { text = { type = "string" }, adapter = { type = "string" } },
        required = { "text" },
      },
    },
  },
  output = {
    success = function(self, agent, cmd, stdout)
      agent.chat:add_tool_output(self, "In short: " .. stdout[1])
    end,
    error = function(self, agent, cmd, stderr)
      agent.chat:add_tool_output(self, "No summary: " .. vim.inspect(stderr[#stderr]))
    end,
  },
}
