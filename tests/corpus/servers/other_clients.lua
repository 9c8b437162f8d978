-- What configurations of other plugins require of the hub.
return function()
  local hub = require("mcphub").get_hub_instance()
  no_hub_prompt = hub and hub:get_active_servers_prompt() or ""
  avante = require("mcphub.extensions.avante")
  avante_tools = { avante.mcp_tool() }
  lualine = require("mcphub.extensions.lualine")
end
