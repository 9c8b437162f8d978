-- `required` beside each property, and a tool whose schema is wrong.
return function()
  local mcphub = require("mcphub")
  flag_server = mcphub.add_tool("flags", {
    name = "mail",
    inputSchema = {
      type = "object",
      properties = {
        to = { type = "string", required = true },
        cc = { type = "string", required = false },
      },
    },
    handler = function(req, res)
      return res:text("sent to " .. req.params.to):send()
    end,
  })
  flag_wrong = mcphub.add_tool("flags", {
    name = "bad",
    inputSchema = { type = "object", properties = { n = { type = "nummer" } } },
    handler = function(req, res)
      return res:text("never"):send()
    end,
  })
end
