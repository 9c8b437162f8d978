-- What stable.rs runs in its editor.
-- luacheck: globals chat parameters tools

local M = {}

local NAMES = "zeta eta theta iota kappa lambda my ny xi omikron pi rho sigma tau"

---A tool whose tables have many keys, in whatever order a process keeps them.
function M.many_keys()
  local properties = {}
  for name in NAMES:gmatch("%a+") do
    properties[name] = {
      type = "object",
      description = name,
      title = name,
      default = {},
      additionalProperties = false,
      properties = {
        a = { type = "string", minLength = 1, maxLength = 9, pattern = "^a" },
        b = { type = "array", default = {}, items = {} },
      },
    }
  end
  tools.many = tool("many", {
    function()
      return { status = "success", data = 1 }
    end,
  }, parameters("many", properties, { "zeta" }))
end

function M.open_many()
  chat = require("lathe").chat({ tools = { "calculator", "many", "list.buffers", "bad" } })
  chat.adapter.body = { metadata = { k = "v", a = { z = 1, b = { y = 2, c = {} } } }, user = "u", seed = 7 }
end

function M.own_tools()
  for _, name in ipairs({ "one", "two", "three", "four" }) do
    tools[name] = tool(name, { function() end }, { system_prompt = "Prompt of " .. name .. "." })
  end
  tools.groups = { pair = { tools = { "two", "three" }, system_prompt = "Prompt of pair." } }
end

function M.search()
  chat.adapter.available_tools = {
    google_search = {
      callback = function(_, meta)
        table.insert(meta.tools, { google_search = {} })
      end,
    },
  }
  assert(chat.tool_registry:add("google_search"))
  send("Search")
end

function M.empty_defaults()
  local properties = {
    plain = { default = {} },
    own = { type = "object", default = {} },
    list = { type = "array", default = {} },
    open = {},
  }
  tools.calculator = tool("calculator", { function() end }, parameters("calculator", properties, {}))
end

function M.empty_fields()
  chat.adapter.parameters = { metadata = {}, stop = {}, logit_bias = {} }
  chat.adapter.body = { provider = { order = {}, prefs = {} } }
  send("hello")
end

return M
