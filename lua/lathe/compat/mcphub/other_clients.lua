-- What other plugins take from the hub: our chats have its servers anyway, others get tools and a text for a statusline.
local M = {}

---The extension for chats: servers are groups of tools already, so there is nothing to do.
---@return table
function M.codecompanion()
  return {
    setup = function() end,
    exports = {},
  }
end

---@param name string
---@param about string
---@param fields { name: string, description: string, type: string }[]
---@param call fun(hub: table, args: table, opts: table)
---@return table
local function avante_tool(name, about, fields, call)
  return {
    name = name,
    description = about,
    param = { type = "table", fields = fields },
    returns = {
      { name = "result", description = "What it gave", type = "string" },
      { name = "error", description = "What went wrong", type = "string", optional = true },
    },
    func = function(args, opts)
      local done = opts and opts.on_complete or function() end
      call(require("lathe.compat.mcphub.hub"), args, {
        parse_response = true,
        caller = { type = "avante" },
        callback = function(response, err)
          local text = response and (response.text or vim.tbl_get(response, "result", "contents", 1, "text"))
          done(text, err or (response and response.error))
        end,
      })
    end,
  }
end

---Tools in the form of avante.
---@return table
function M.avante()
  local server = { name = "server_name", description = "The server", type = "string" }
  local use = avante_tool("use_mcp_tool", "Call a tool of a server.", {
    server,
    { name = "tool_name", description = "The tool", type = "string" },
    { name = "tool_input", description = "Its input", type = "object" },
  }, function(hub, args, opts)
    hub:call_tool(args.server_name, args.tool_name, args.tool_input, opts)
  end)
  local read = avante_tool("access_mcp_resource", "Read a resource of a server.", {
    server,
    { name = "uri", description = "The resource", type = "string" },
  }, function(hub, args, opts)
    hub:access_resource(args.server_name, args.uri, opts)
  end)
  return {
    setup = function() end,
    use_mcp_tool = use,
    access_mcp_resource = read,
    mcp_tool = function()
      return use, read
    end,
  }
end

---How many servers there are, for a statusline.
---@return string
local function count()
  return tostring(#require("lathe.compat.mcphub.hub").get_servers())
end

---A component of lualine, when that is there.
---@return table
function M.lualine()
  local ok, component = pcall(require, "lualine.component")
  local result = ok and component:extend() or {}
  result.update_status = count
  return result
end

return M
