-- The two tools of the group `mcp`: any tool and any resource of native servers by name (N-13), for models that should
-- not see hundreds of tools.
local M = {}

local auto_approve = require("lathe.native.auto_approve")
local errors = require("lathe.native.error")
local resources = require("lathe.native.resource")
local store = require("lathe.native.store")

M.names = { "access_mcp_resource", "use_mcp_tool" }

---@type lathe.ToolGroup
M.group = {
  description = "any tool and resource of the native servers, by name",
  tools = { "use_mcp_tool", "access_mcp_resource" },
  opts = { collapse_tools = true },
}

---@param names string[]
---@return string
local function quoted(names)
  return #names > 0 and table.concat(names, ", ") or "none"
end

---What there is, for the description: the model has no other way to know.
---@return string
local function inventory()
  local lines = {}
  for _, server in ipairs(store.all()) do
    if server.status == "connected" then
      local tools, uris = {}, {}
      for _, def in ipairs(server.capabilities.tools) do
        if store.is_enabled(server, "tools", def.name) then
          tools[#tools + 1] = def.name
        end
      end
      for _, list in ipairs({ "resources", "resourceTemplates" }) do
        for _, def in ipairs(server.capabilities[list]) do
          local uri = def.uri or def.uriTemplate
          if store.is_enabled(server, list, uri) then
            uris[#uris + 1] = uri
          end
        end
      end
      lines[#lines + 1] = ("%s: tools %s; resources %s"):format(server.name, quoted(tools), quoted(uris))
    end
  end
  return "Servers:\n" .. table.concat(lines, "\n")
end

---@param self lathe.Tool
---@param content string
---@param meta lathe.Meta
---@param media lathe.Media[]?
local function give(self, content, meta, media)
  meta.tools.chat:add_tool_output(self, { content = content, attachments = media })
end

local output = {
  success = function(self, stdout, meta)
    local last = stdout[#stdout]
    give(self, last.text, meta, last.media)
  end,
  error = function(self, stderr, meta)
    local last = stderr[#stderr]
    give(self, type(last) == "table" and last.text or tostring(last), meta)
  end,
}

---@param name string
---@param description string
---@param properties table
---@param required string[]
---@param fields table
---@return lathe.Tool
local function tool(name, description, properties, required, fields)
  local parameters = { type = "object", properties = properties, required = required, additionalProperties = false }
  return vim.tbl_extend("force", {
    name = name,
    description = description,
    schema = {
      type = "function",
      ["function"] = { name = name, description = description, parameters = parameters },
    },
    output = output,
    strict_types = true,
    opts = {},
  }, fields)
end

---A call that names a tool which can be called is a call of that tool, made so in the library: only the others get
---here.
---@param args { server_name: string, tool_name: string }
---@return lathe.CmdResult
local function refuse(_, args)
  local fault = M.lookup_fault(args.server_name, args.tool_name)
    or errors.new("NOT_FOUND", ("the tool %q cannot be called in this chat"):format(args.tool_name))
  return { status = "error", data = { code = fault.code, text = fault.message } }
end

---Why a tool cannot be called.
---@param server_name string
---@param tool_name string
---@return lathe.native.Error?
function M.lookup_fault(server_name, tool_name)
  local server = store.get(server_name)
  if not server then
    local names = vim.tbl_map(function(other)
      return other.name
    end, store.all())
    return errors.new("NOT_FOUND", ("there is no server %q; %s"):format(server_name, errors.near(names, server_name)))
  elseif server.status ~= "connected" then
    return errors.new("SERVER_DISABLED", ("the server %q is disabled"):format(server_name))
  elseif not store.item(server, "tools", tool_name) or not store.is_enabled(server, "tools", tool_name) then
    local names = {}
    for _, def in ipairs(server.capabilities.tools) do
      if store.is_enabled(server, "tools", def.name) then
        names[#names + 1] = def.name
      end
    end
    local text = "there is no tool %q in the server %q; %s"
    return errors.new("NOT_FOUND", text:format(tool_name, server_name, errors.near(names, tool_name)))
  end
end

---@param args { server_name: string, uri: string }
---@param view lathe.Tools
---@param opts lathe.CmdOpts
local function access_resource(view, args, opts)
  local cancel = resources.read(args.server_name, args.uri, { chat = view.chat }, function(outcome)
    opts.output_cb({ status = outcome.code == "OK" and "success" or "error", data = outcome })
  end)
  opts.register_job({ kill = cancel })
end

local cached, version ---@type table<string, lathe.Tool>?, integer?

---One of the two tools.
---@param name string
---@return lathe.Tool?
function M.tool(name)
  if (name ~= "use_mcp_tool" and name ~= "access_mcp_resource") or not store.all()[1] then
    return nil
  end
  if version ~= store.version then
    version = store.version
    local server = { type = "string", description = "the name of the server" }
    cached = {
      use_mcp_tool = tool("use_mcp_tool", "Calls a tool of a server. " .. inventory(), {
        server_name = server,
        tool_name = { type = "string", description = "the name of the tool" },
        tool_input = { description = "the arguments of the tool, an object", type = { "object", "string" } },
      }, { "server_name", "tool_name" }, { cmds = { refuse }, routes = true }),
      access_mcp_resource = tool("access_mcp_resource", "Reads a resource of a server. " .. inventory(), {
        server_name = server,
        uri = { type = "string", description = "the URI of the resource" },
      }, { "server_name", "uri" }, {
        cmds = { access_resource },
        opts = { require_approval_before = true },
        before_call = function(_, call)
          local asks, denied = auto_approve.resource(call.args.server_name, call.args.uri)
          call.tool.opts.require_approval_before = asks
          return denied
        end,
      }),
    }
  end
  return cached and cached[name]
end

return M
