-- `handlers` are registered as tools of a server, `serve(server, tool, handler, extra)` registers one; `use(turns, names,
-- native)` opens a chat with a scripted provider, `call(server, tool, args)` calls one and keeps `response` and `err`.
-- luacheck: globals approve call called chat err greet greeted log native response serve started texts told use

native = require("lathe.native")
told = {}
vim.notify = function(text)
  told[#told + 1] = text
end
function serve(server, name, handler, extra)
  return native.add_tool(server, vim.tbl_extend("force", { name = name, handler = handler }, extra or {}))
end
function greet()
  return serve("example", "greet", function(req, res)
    greeted = (greeted or 0) + 1
    return res:text("Hello " .. req.params.name):send()
  end, {
    description = "Greet a user",
    inputSchema = {
      type = "object",
      properties = { name = { type = "string", description = "Name to greet" } },
      required = { "name" },
    },
  })
end
function use(turns, names, options)
  require("lathe").setup({
    adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = turns }) } },
    interactions = { chat = { adapter = "fake" } },
    native = vim.tbl_extend("force", { auto_approve = true }, options or {}),
  })
  chat = require("lathe").chat({ tools = names })
end
function approve(options)
  require("lathe").setup({ native = vim.tbl_extend("force", { auto_approve = true }, options or {}) })
end
function call(server, tool, args, opts)
  called, response, err = 0, nil, nil
  return native.call_tool(
    server,
    tool,
    args or {},
    vim.tbl_extend("force", {
      callback = function(r, e)
        called, response, err = called + 1, r, e
      end,
    }, opts or {})
  )
end
function texts()
  local list = {}
  for _, item in ipairs(response and response.result.content or {}) do
    list[#list + 1] = item.text or item.type
  end
  return table.concat(list, "|")
end
function started()
  local running = require("lathe.chat").running()
  for _, one in pairs(running and running.calls or {}) do
    if one.started_ns then
      return true
    end
  end
end
function log()
  local file = io.open(require("lathe.log").path)
  return file and file:read("*a") or ""
end
