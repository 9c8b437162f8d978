-- The hub as others hold it: what servers, tools, resources and prompts there are, and calls of them. Its servers are ours.
local M = {}

local native = require("lathe.native")

---@return boolean
function M.is_ready()
  return true
end

---@param include_disabled boolean?
---@return table[]
function M.get_servers(_, include_disabled)
  return native.list_servers({ include_disabled = include_disabled == true })
end

---@param kind string
---@return fun(): table[]
local function all_of(kind)
  return function()
    local list = {}
    for _, server in ipairs(native.list_servers()) do
      for _, item in ipairs(server.capabilities[kind] or {}) do
        list[#list + 1] = vim.tbl_extend("force", item, { server_name = server.name })
      end
    end
    return list
  end
end

M.get_tools = all_of("tools")
M.get_resources = all_of("resources")
M.get_resource_templates = all_of("resourceTemplates")
M.get_prompts = all_of("prompts")

---@param name string
---@return lathe.native.Server?
function M.is_native_server(_, name)
  return native.is_native_server(name)
end

---Errors are texts here.
---@param opts table?
---@return table?
local function with_texts(opts)
  local callback = opts and opts.callback
  if not callback then
    return opts
  end
  return vim.tbl_extend("force", opts, {
    callback = function(response, err)
      callback(response, err and tostring(err) or nil)
    end,
  })
end

---@param response table?
---@param err any
---@return table?
---@return string?
local function as_text(response, err)
  return response, err and tostring(err) or nil
end

---@param server string
---@param tool string
---@param args table?
---@param opts table?
---@return table? response
---@return string? err
function M.call_tool(_, server, tool, args, opts)
  return as_text(native.call_tool(server, tool, args, with_texts(opts)))
end

---@param server string
---@param uri string
---@param opts table?
---@return table? response
---@return string? err
function M.access_resource(_, server, uri, opts)
  return as_text(native.access_resource(server, uri, with_texts(opts)))
end

---@param server string
---@param name string
---@param args table?
---@param opts table?
---@return table? response
---@return string? err
function M.get_prompt(_, server, name, args, opts)
  return as_text(native.get_prompt(server, name, args, with_texts(opts)))
end

---@param opts table?
---@param err string?
local function answer(opts, err)
  if opts and opts.callback then
    vim.schedule(function()
      opts.callback(err == nil and { status = "success" } or nil, err)
    end)
  end
end

---@param name string
---@param opts table?
function M.start_mcp_server(_, name, opts)
  local ok, err = native.enable(name)
  answer(opts, not ok and err or nil)
end

---@param name string
---@param _ boolean? whether it stays disabled
---@param opts table?
function M.stop_mcp_server(_, name, _, opts)
  local ok, err = native.disable(name)
  answer(opts, not ok and err or nil)
end

---Servers are always as they are.
---@param callback any
function M.refresh(_, callback)
  if type(callback) == "function" then
    callback(true)
  end
  return true
end

M.hard_refresh = M.refresh
M.restart = M.refresh

-- Prompts -------------------------------------------------------------------------------------------------------------

---@param title string
---@param items table[]
---@param id string
---@return string
local function section(title, items, id)
  local lines = {}
  for _, item in ipairs(items) do
    local about = type(item.description) == "string" and item.description ~= "" and ": " .. item.description or ""
    lines[#lines + 1] = ("- %s%s"):format(item[id], about)
    if item.inputSchema then
      local ok, json = pcall(vim.json.encode, item.inputSchema)
      lines[#lines + 1] = ok and "  input: " .. json or nil
    end
  end
  return lines[1] and ("\n%s:\n%s\n"):format(title, table.concat(lines, "\n")) or ""
end

---What a model is told of a server.
---@param server table
---@return string
function M.convert_server_to_text(_, server)
  local parts = server.capabilities
  local about = type(server.description) == "string" and server.description ~= "" and "\n" .. server.description or ""
  return ("## %s%s\n"):format(server.name, about)
    .. section("Tools", parts.tools or {}, "name")
    .. section("Resources", parts.resources or {}, "uri")
    .. section("Resource templates", parts.resourceTemplates or {}, "uriTemplate")
end

---What a model is told of all of them.
---@return string
function M.get_active_servers_prompt()
  local texts = {}
  for _, server in ipairs(native.list_servers()) do
    texts[#texts + 1] = M:convert_server_to_text(server)
  end
  return texts[1] and "# Servers\n\n" .. table.concat(texts, "\n") or ""
end

---@return { active_servers: string, use_mcp_tool: string, access_mcp_resource: string }
function M.generate_prompts()
  return {
    active_servers = M.get_active_servers_prompt(),
    use_mcp_tool = "Call use_mcp_tool with server_name and tool_name; tool_input is an object that fits it.",
    access_mcp_resource = "Call access_mcp_resource with server_name and uri to read a resource.",
  }
end

return M
