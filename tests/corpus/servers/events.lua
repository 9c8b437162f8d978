-- Listens for changes of servers, as a statusline does.
return function()
  local mcphub = require("mcphub")
  heard = {}
  local function note(data)
    heard[#heard + 1] = data
  end
  mcphub.on({ "servers_updated", "tool_list_changed" }, note)
  mcphub.add_tool("ticker", {
    name = "tick",
    handler = function(_, res)
      return res:text("tock"):send()
    end,
  })
  function stop_listening()
    mcphub.off({ "servers_updated", "tool_list_changed" }, note)
  end
end
