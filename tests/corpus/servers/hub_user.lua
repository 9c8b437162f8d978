-- Code that reads the hub: servers, tools, prompts, calls with and without a callback.
return function()
  local mcphub = require("mcphub")
  mcphub.add_tool("math", {
    name = "double",
    description = "Double a number",
    inputSchema = { type = "object", properties = { n = { type = "number" } }, required = { "n" } },
    handler = function(req, res)
      return res:text(tostring(req.params.n * 2)):send()
    end,
  })
  mcphub.setup({
    auto_approve = true,
    on_ready = function(hub)
      local names = vim.tbl_map(function(server)
        return server.name
      end, hub:get_servers())
      local tools = vim.tbl_map(function(tool)
        return tool.server_name .. "." .. tool.name
      end, hub:get_tools())
      local response, err = hub:call_tool("math", "double", { n = 21 }, { parse_response = true })
      hub:call_tool("math", "double", { n = 4 }, {
        callback = function(later)
          hub_later = later.result.content[1].text
        end,
      })
      hub_found = {
        servers = names,
        tools = tools,
        text = response and response.text or err,
        resources = #hub:get_resources(),
        prompt = hub:get_active_servers_prompt(),
        ready = hub:is_ready(),
      }
    end,
  })
end
