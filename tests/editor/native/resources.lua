-- What native/resources.rs runs in its editor.
-- luacheck: globals asked finish fired kinds read

local M = {}

function M.templates()
  local function say(name)
    return function(req, res)
      return res:text(
        name
          .. tostring(req.params.id)
          .. ","
          .. tostring(req.params.p)
          .. " "
          .. req.uri
          .. tostring(req.uriTemplate)
          .. tostring(req.resource.mark)
      )
    end
  end
  native.add_resource_template("my-server", { uriTemplate = "my-server://{id}/{p}", handler = say("first"), mark = 1 })
  native.add_resource_template("my-server", { uriTemplate = "my-server://{+all}", handler = say("second") })
  native.add_resource("my-server", { uri = "my-server://7/static", handler = say("static") })
  function read(uri, server)
    local r, e = native.access_resource(server, uri)
    local c = r and r.result.contents[1]
    return c and c.text .. " " .. c.mimeType .. " " .. c.uri or e.code
  end
end

function M.kinds_of_ends()
  native.add_resource("s", {
    uri = "x://blob",
    handler = function(_, res)
      return res:blob("abc"):image("def")
    end,
  })
  native.add_resource("s", {
    uri = "x://error",
    handler = function(_, res)
      return res:error("no such thing")
    end,
  })
  native.add_resource("s", {
    uri = "x://throws",
    handler = function()
      error("boom")
    end,
  })
  native.add_resource("s", {
    uri = "x://never",
    handler = function(req)
      req.signal.on_cancel(function()
        fired = true
      end)
    end,
  })
  native.add_resource("s", {
    uri = "x://text",
    handler = function()
      return "plain"
    end,
  })
  require("lathe").setup({ native = { timeout = 80 } })
end

function M.mentioned()
  native.add_resource("s", {
    uri = "x://late",
    description = "Late",
    handler = function(_, res)
      vim.defer_fn(function()
        res:text("content"):send()
      end, 20)
    end,
  })
  native.add_resource("s", {
    uri = "x://bad",
    handler = function(_, res)
      return res:error("broken")
    end,
  })
  native.add_resource("again", {
    uri = "x://late",
    handler = function(_, res)
      return res:text("never")
    end,
  })
  use({ { text = "done" } }, {})
  send("see #{mcp:x://late} and #{mcp:x://bad}, #{mcp:x://late}")
end

function M.prompt_arguments()
  asked = {}
  vim.ui.input = function(opts, done)
    asked[#asked + 1] = opts.prompt .. tostring(opts.default)
    done("Ann")
  end
  vim.ui.select = function(items, opts, done)
    asked[#asked + 1] = table.concat(items, "/")
    done(items[2])
  end
  native.add_prompt("s", {
    name = "greet",
    arguments = function()
      return {
        { name = "who", description = "a person", required = true },
        { name = "how", enum = { "short", "long" } },
      }
    end,
    handler = function(req, res)
      return res
        :system()
        :text("Be kind.")
        :user()
        :text("Greet " .. req.params.who)
        :llm()
        :text("How?")
        :user()
        :text(req.params.how)
    end,
  })
  use({ { text = "done" } }, {})
  send("/mcp:s:greet")
end

function M.short_names()
  local function prompt(server, name, extra)
    native.add_prompt(
      server,
      vim.tbl_extend("force", {
        name = name,
        handler = function(_, res)
          return res:text(server .. name)
        end,
      }, extra or {})
    )
  end
  prompt("a", "only")
  prompt("a", "both")
  prompt("b", "both")
  prompt("a", "needs", { arguments = { { name = "x", required = true } } })
  vim.ui.input = function(_, done)
    done(nil)
  end
  use({ { text = "done" } }, {})
  send("/mcp:only")
end

function M.failing_prompts()
  native.add_prompt("s", {
    name = "bad",
    handler = function(_, res)
      return res:error("x")
    end,
  })
  native.add_prompt("s", { name = "never", handler = function() end })
  use({ { text = "done" } }, {}, { timeout = 50 })
  send("/mcp:bad")
end

function M.events()
  native.add_resource("s", {
    uri = "x://1",
    handler = function(_, res)
      return res:text("a")
    end,
  })
  native.add_prompt("s", {
    name = "p",
    handler = function()
      error("boom")
    end,
  })
  native.access_resource("s", "x://1")
  native.get_prompt("s", "p")
  kinds = {}
  for _, e in ipairs(events) do
    local d = e.data
    if d.kind then
      kinds[#kinds + 1] = table.concat({ e.name, d.kind, d.source, d.server, d.code or "-", d.status or "-" }, " ")
    end
  end
end

function M.waiting_mention()
  native.add_resource("s", {
    uri = "x://1",
    handler = function(_, res)
      return res:text("content")
    end,
  })
  serve("s", "t", function(_, res)
    finish = function()
      res:text("ran"):send()
    end
  end)
  use({ answer("s__t", {}), { text = "done" } }, { "s" })
  send("go")
end

return M
