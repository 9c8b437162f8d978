-- What native/api.rs runs in its editor.
-- luacheck: globals before gone names seen

local M = {}

function M.events()
  seen = {}
  native.on({ "tool_list_changed", "servers_updated", "resource_list_changed", "prompt_list_changed" }, function(data)
    seen[#seen + 1] = data.event .. ":" .. table.concat(data.servers, "+")
  end)
  function gone()
    seen[#seen + 1] = "gone"
  end
  native.on("tool_list_changed", gone)
  native.off("tool_list_changed", gone)
  native.on("tool_list_changed", function()
    error("listener")
  end)
  for i = 1, 3 do
    serve("a", "t" .. i, print)
  end
  serve("b", "t", print)
  native.add_resource("a", { uri = "x", handler = print })
  native.add_resource_template("a", { uriTemplate = "x://{y}", handler = print })
  native.add_prompt("a", { name = "p", handler = print })
  before = #seen
  native.on("nonsense", print)
end

function M.bad_servers()
  local function server(tools)
    return { capabilities = { tools = tools } }
  end
  require("lathe").setup({
    native = {
      servers = {
        zeta = server({ { name = "z", handler = print } }),
        weather = server({ { name = "a", handler = print }, { name = "b" }, { name = "a", handler = print } }),
        alpha = vim.tbl_extend("force", server({ { name = "a", handler = print } }), { name = "other" }),
        nothing = {},
      },
    },
  })
  names = {}
  for _, s in ipairs(native.list_servers()) do
    names[#names + 1] = s.name
  end
end

function M.two_setups()
  function names()
    local all = {}
    for _, s in ipairs(native.list_servers()) do
      for _, t in ipairs(s.capabilities.tools) do
        all[#all + 1] = s.name .. "." .. t.name
      end
    end
    return table.concat(all, " ")
  end
  local def = { capabilities = { tools = { { name = "a", handler = print } } } }
  require("lathe").setup({ native = { servers = { one = def, two = def } } })
  serve("one", "mine", print)
end

function M.settings()
  require("lathe").setup({
    native = {
      settings = {
        off = { disabled = true },
        s = {
          disabled_tools = { "b" },
          disabled_resources = { "x://2" },
          disabled_prompts = { "q" },
          disabled_resourceTemplates = { "y://{a}" },
        },
        wrong = { disabled_tools = "b" },
      },
    },
  })
  serve("off", "t", print)
  serve("s", "a", print)
  serve("s", "b", print)
  for _, uri in ipairs({ "x://1", "x://2" }) do
    native.add_resource("s", { uri = uri, handler = print })
  end
  native.add_resource_template("s", { uriTemplate = "y://{a}", handler = print })
  native.add_prompt("s", { name = "p", handler = print })
  native.add_prompt("s", { name = "q", handler = print })
end

function M.listed()
  local s = native.list_servers()
  return #s
    .. vim.json.encode(vim.tbl_map(function(l)
      return vim.tbl_map(function(i)
        return i.name
      end, l)
    end, {
      s[1].capabilities.tools,
      s[1].capabilities.resources,
      s[1].capabilities.resourceTemplates,
      s[1].capabilities.prompts,
    }))
end

function M.one_server()
  native.add_server("s", {
    displayName = "S",
    description = function()
      return "made"
    end,
  })
  serve("s", "t", print, {
    description = function()
      return "dynamic"
    end,
    inputSchema = function()
      return { type = "object" }
    end,
  })
  native.add_resource_template("s", { uriTemplate = "x://{y}", handler = print })
end

function M.on_module()
  local lathe = require("lathe")
  lathe.add_server("s")
  lathe.add_tool("s", { name = "t", handler = print })
  lathe.add_resource("s", { uri = "u", handler = print })
  lathe.add_resource_template("s", { uriTemplate = "u{x}", handler = print })
  lathe.add_prompt("s", { name = "p", handler = print })
end

return M
