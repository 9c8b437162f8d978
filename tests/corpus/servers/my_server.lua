-- A name that is no identifier.
return function()
  require("mcphub").add_tool("my-server", {
    name = "say-hi",
    handler = function(req, res)
      return res:text("hi from " .. req.server.name):send()
    end,
  })
end
