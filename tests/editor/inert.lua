-- What inert.rs runs in its editor.
-- luacheck: globals chat id in_use lines made read sent sign start told

local M = {}

function M.world()
  told = {}
  vim.notify = function(text)
    told[#told + 1] = text
  end
  read, made = 0, 0
  local native = require("lathe.native")
  native.add_resource("x", {
    name = "secret",
    uri = "x://secret",
    handler = function(_, res)
      read = read + 1
      return res:text("SECRET")
    end,
  })
  native.add_prompt("x", {
    name = "evil",
    handler = function(_, res)
      made = made + 1
      return res:text("EVIL")
    end,
  })
  vim.cmd.edit("secret.txt")
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "SECRET", "SECRET" })
  function start()
    open(
      { { text = "one" }, { text = "two" }, { text = "three" } },
      { danger = tool("danger", { function() end }), opts = {} },
      { tools = {} }
    )
    chat.adapter.name = "fake"
  end
  function in_use()
    return next(chat.tool_registry.in_use) ~= nil
  end
  function sent()
    local last
    for _, message in ipairs(chat.messages) do
      last = message.role == "user" and message.content or last
    end
    return last
  end
end

function M.file_name(...)
  start()
  vim.cmd.edit(vim.fn.fnameescape(...))
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "first", "second" })
  vim.cmd("1,2Lathe add")
end

function M.fences(before, signs)
  start()
  lines = { "begin", "```", "~~~", "````" }
  vim.list_extend(lines, signs)
  vim.list_extend(lines, { "```", "@{danger}" })
  vim.cmd.edit("other.md")
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
  if before ~= "" then
    chat:add_buf_message({ role = "user", content = before })
  end
  vim.cmd("1,$Lathe add")
  vim.api.nvim_feedkeys(vim.keycode("ggVG"), "x", false)
  vim.cmd("normal! ggVG")
  require("lathe").add()
end

function M.prompts(...)
  sign = ...
  start()
  require("lathe.native").add_prompt("x", {
    name = "good",
    handler = function(_, res)
      return res:user():text("history " .. sign):llm():text("said " .. sign):user():text(sign)
    end,
  })
  require("lathe.native").add_prompt("x", {
    name = "fenced",
    handler = function(_, res)
      return res:text("see\n```\n" .. sign .. "\n```\n" .. sign)
    end,
  })
  chat:add_buf_message({ role = "user", content = "/mcp:good" })
  chat:submit()
end

function M.resumed()
  chat.render:clear_input()
  id = chat.saved_id
  chat:close()
  require("lathe").resume(id)
  vim.wait(5000, function()
    chat = require("lathe").last_chat()
    return chat and #chat.messages > 1
  end, 5)
  require("lathe.chat.actions").edit_last(chat)
end

function M.limits()
  told = {}
  vim.notify = function(text)
    told[#told + 1] = text
  end
  local native = require("lathe.native")
  local texts = {
    lines = ("line\n"):rep(5000),
    bytes = ("ü"):rep(40000),
    short = "short",
    exact = ("x"):rep(1000 - #"Resource x://exact:\n"),
  }
  for name, text in pairs(texts) do
    native.add_resource("x", {
      name = name,
      uri = "x://" .. name,
      handler = function(_, res)
        return res:text(text)
      end,
    })
    native.add_prompt("x", {
      name = name,
      handler = function(_, res)
        return res:llm():text(text):user():text(text)
      end,
    })
  end
  function start()
    require("lathe").setup({
      tool_output = { max_lines = 50, max_bytes = 1000 },
      adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = { { text = "one" } } }) } },
      interactions = { chat = { adapter = "fake" } },
    })
    chat = require("lathe").chat()
  end
end

return M
