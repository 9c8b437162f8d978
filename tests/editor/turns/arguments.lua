-- What turns/arguments.rs runs in its editor.
-- luacheck: globals check ran same seen texts_sent try

local M = {}

function M.unusable()
  open({
    answer(
      "t",
      { n = 1 },
      "no_such_tool",
      {},
      "t",
      '{"path":',
      "t",
      '{"n":1}{"n":2}',
      "t",
      "",
      "t",
      "[]",
      "t",
      { n = 2 }
    ),
    { text = "done" },
  }, {
    t = tool("t", {
      function(_, args)
        return { status = "success", data = vim.inspect(args) }
      end,
    }),
  })
  send("go")
end

function M.misfitting()
  local t = tool("t", {
    function()
      ran = true
      return { status = "success", data = 1 }
    end,
  }, { opts = { require_approval_before = true } })
  t.schema["function"].parameters = {
    type = "object",
    properties = { server = { type = "string" }, tool_name = { type = "string" }, n = { type = "integer" } },
    required = { "server", "tool_name" },
  }
  open(
    { answer("t", { server = "s" }, "t", { server = "s", tool_name = "x", n = "many" }), { text = "done" } },
    { t = t }
  )
  send("go")
end

function M.number_in_string()
  local t = tool("t", {
    function(_, args)
      seen = args
      return { status = "success", data = "ok" }
    end,
  })
  t.schema["function"].parameters = {
    type = "object",
    additionalProperties = false,
    required = { "n" },
    properties = { n = { type = "integer" }, note = { type = "string" }, kept = { type = { "string", "null" } } },
  }
  open({ answer("t", '{"n":"100","note":null,"kept":null}'), { text = "done" } }, { t = t })
  send("go")
end

function M.call_as_text()
  open({ { text = 'Sure:\n```json\n{"tool_calls": [{"name": "t", "arguments": {}}]}\n```' } }, {
    t = tool("t", {
      function()
        ran = true
      end,
    }),
  })
  send("go")
end

function M.decoded()
  seen = {}
  require("lathe").setup({
    interactions = {
      chat = {
        tools = {
          t = tool("t", {
            function(_, args)
              seen[#seen + 1] = args
              return { status = "success", data = 1 }
            end,
          }),
        },
      },
    },
  })
  function same(a, b)
    if type(a) ~= type(b) or type(a) ~= "table" then
      return a == b
    end
    if getmetatable(a) ~= getmetatable(b) then
      return false
    end
    for k, v in pairs(a) do
      if not same(v, b[k]) then
        return false
      end
    end
    for k in pairs(b) do
      if a[k] == nil then
        return false
      end
    end
    return true
  end
  function try(texts)
    seen = {}
    local calls = {}
    for i, text in ipairs(texts) do
      calls[i] = { name = "t", arguments = text }
    end
    open({ { tool_calls = calls }, { text = "done" } }, {
      t = tool("t", {
        function(_, args)
          seen[#seen + 1] = args
          return { status = "success", data = 1 }
        end,
      }),
    })
    send("go")
    texts_sent = texts
  end
  function check()
    for i, text in ipairs(texts_sent) do
      if not same(seen[i], vim.json.decode(text)) then
        return text
      end
    end
    return ""
  end
end

function M.large()
  open({ answer("t", '{"list":[' .. ("1,"):rep(299999) .. '1],"deep":{"a":[[],{}]}}'), { text = "done" } }, {
    t = tool("t", {
      function(_, args)
        return { status = "success", data = #args.list .. vim.inspect(args.deep):gsub("%s+", "") }
      end,
    }),
  })
end

return M
