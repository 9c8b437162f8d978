-- A function decides what runs without a question.
return function()
  local mcphub = require("mcphub")
  for _, name in ipairs({ "read", "write", "drop" }) do
    mcphub.add_tool("store", {
      name = name,
      handler = function(req, res)
        return res:text(name .. " done"):send()
      end,
    })
  end
  mcphub.setup({
    auto_approve = function(params)
      if params.server_name ~= "store" or params.action ~= "use_mcp_tool" then
        return false
      elseif params.tool_name == "drop" then
        return "Nothing is ever dropped"
      end
      return params.tool_name == "read"
    end,
  })
end
