-- Asks a model by the newer client: `send` with functions for what comes.
local adapters = require("codecompanion.adapters")
local http = require("codecompanion.http")

return {
  name = "send_request",
  cmds = {
    function(self, args, opts)
      local adapter = adapters.resolve("side")
      http.new({ adapter = adapter }):send({
        messages = { { role = adapter.roles.user, content = args.question } },
      }, {
        stream = false,
        on_done = function(data)
          local result = adapters.call_handler(adapter, "parse_chat", data)
          opts.output_cb({ status = "success", data = result.output.content })
        end,
        on_error = function(err)
          opts.output_cb({ status = "error", data = err.message or tostring(err) })
        end,
      })
    end,
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "send_request",
      description = "Ask",
      parameters = { type = "object", properties = { question = { type = "string" } }, required = { "question" } },
    },
  },
  output = {
    success = function(self, stdout, meta)
      meta.tools.chat:add_tool_output(self, { content = stdout[#stdout] })
    end,
    error = function(self, stderr, meta)
      meta.tools.chat:add_tool_output(self, { content = "error: " .. stderr[#stderr] })
    end,
  },
}
