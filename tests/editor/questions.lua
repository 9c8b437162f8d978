-- What questions.rs runs in its editor.
-- luacheck: globals asking first ran second told

local M = {}

-- `asking(name)`: a tool that asks, and counts in `ran`.
function M.asking()
  ran = {}
  told = {}
  vim.notify = function(text)
    told[#told + 1] = text
  end
  function asking(name, extra)
    return tool(name, {
      function()
        ran[#ran + 1] = name
        return { status = "success", data = "ran " .. name }
      end,
    }, vim.tbl_deep_extend("force", { opts = { require_approval_before = true } }, extra or {}))
  end
end

function M.two_chats()
  first = open({ answer("a", {}), { text = "first is done" } }, { a = asking("a"), b = asking("b") })
  send("go", first)
  second = open({ answer("b", {}), { text = "second is done" } }, { a = asking("a"), b = asking("b") })
  send("go", second)
end

function M.unattended()
  M.asking()
  open({ answer("t", {}), { text = "done" } }, { t = asking("t") }, { hidden = true })
  send("go")
  vim.api.nvim_create_autocmd("User", {
    pattern = { "LatheChatDone", "LatheChatStopped" },
    callback = function()
      io.stdout:write(#ran .. " " .. results()[1])
      vim.cmd("qall!")
    end,
  })
end

function M.any_arguments()
  local long = {}
  for i = 1, 40 do
    long[i] = "line " .. i
  end
  open({
    answer("t", { path = "a.txt", text = table.concat(long, "\n"), nested = { a = { 1, 2 } }, ["odd\nname"] = "x\0y" }),
    { text = "done" },
  }, { t = asking("t") })
  send("go")
end

function M.large_argument()
  local many = {}
  for i = 1, 2000 do
    many[i] = { i }
  end
  open({ answer("t", { many = many }), { text = "done" } }, { t = asking("t") })
  send("go")
end

function M.overlapping()
  open({ answer("a", {}, "b", {}), { text = "done" } }, {
    a = asking("a", { opts = { parallel = true } }),
    b = asking("b", { opts = { parallel = true } }),
  })
  send("go")
end

return M
