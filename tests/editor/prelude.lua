-- `open(turns, tools, opts)` sets lathe up with a scripted provider and opens a chat as the global `chat`.
-- `answer(...)` makes a turn of calls: name, arguments, name, arguments. `results()` are the tool results so far.
-- luacheck: globals answer chat count ended events open paired results send tool

events = {}
vim.api.nvim_create_autocmd("User", {
  pattern = "Lathe*",
  callback = function(args)
    events[#events + 1] = { name = args.match, data = args.data }
  end,
})
function answer(...)
  local calls = {}
  for i = 1, select("#", ...), 2 do
    local name, arguments = select(i, ...)
    calls[#calls + 1] = { name = name, arguments = arguments }
  end
  return { tool_calls = calls }
end
function tool(name, cmds, extra)
  return vim.tbl_deep_extend("force", {
    description = name,
    cmds = cmds,
    schema = {
      type = "function",
      ["function"] = { name = name, description = name, parameters = { type = "object" } },
    },
    output = {
      success = function(self, stdout, meta)
        meta.tools.chat:add_tool_output(self, { content = tostring(stdout[#stdout]) })
      end,
      error = function(self, stderr, meta)
        meta.tools.chat:add_tool_output(self, { content = tostring(stderr[#stderr]) })
      end,
    },
  }, extra or {})
end
function open(turns, tools, opts)
  local named = {}
  for name, entry in pairs(tools) do
    if name ~= "opts" then
      named[#named + 1] = name
    end
  end
  table.sort(named)
  require("lathe").setup({
    adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = turns }) } },
    interactions = { chat = { adapter = "fake", tools = tools } },
  })
  chat = require("lathe").chat(vim.tbl_extend("force", { tools = named }, opts or {}))
  return chat
end
function send(text, which)
  which = which or chat
  which:add_buf_message({ role = "user", content = text })
  which:submit()
end
function results(which)
  local list = {}
  for _, message in ipairs((which or chat).messages) do
    if message.role == "tool" then
      list[#list + 1] = message.content
    end
  end
  return list
end
function count(name)
  local n = 0
  for _, event in ipairs(events) do
    if event.name == name then
      n = n + 1
    end
  end
  return n
end
function ended()
  return count("LatheChatDone") + count("LatheChatStopped")
end
function paired()
  local awaited = {}
  for _, message in ipairs(chat.messages) do
    if message.role == "tool" then
      if table.remove(awaited, 1) ~= message.tools.call_id then
        return false
      end
    else
      if #awaited > 0 then
        return false
      end
      for _, call in ipairs(message.tools and message.tools.calls or {}) do
        awaited[#awaited + 1] = call.id
      end
    end
  end
  return #awaited == 0
end
