-- What screens.rs runs in its editor.
-- luacheck: globals alone chat fake lines rules said saved slow write

local M = {}

-- `said(name, text)`: a tool that gives the text. `alone()`: nothing but the chat is on the screen.
function M.prelude()
  function lines(n)
    local list = {}
    for i = 1, n do
      list[i] = ("src/file%d.rs:%d: // TODO: say what"):format(i, i * 7)
    end
    return table.concat(list, "\n")
  end
  function said(name, text, label, extra)
    return tool(
      name,
      {
        function()
          return { status = "success", data = text }
        end,
      },
      vim.tbl_deep_extend("force", {
        output = {
          cmd_string = function()
            return label
          end,
        },
      }, extra or {})
    )
  end
  require("lathe.chat.draw.block").duration = function()
    return "1.0 ms"
  end
  function alone()
    if #vim.api.nvim_tabpage_list_wins(0) > 1 then
      vim.cmd("only")
    end
  end
  function saved()
    local path = vim.fs.joinpath(vim.fn.stdpath("state"), "lathe", "chats", chat.saved_id .. ".jsonl")
    return vim.fn.filereadable(path) == 1 and table.concat(vim.fn.readfile(path)) or ""
  end
end

function M.running()
  slow = tool("run_tests", { "echo compiling; echo 'test rule::deny ... ok'; sleep 20" }, {
    output = {
      cmd_string = function()
        return "cargo test --workspace"
      end,
    },
  })
  open({ { text = "I run the tests.", tool_calls = { { name = "run_tests", arguments = {} } } } }, { run_tests = slow })
  alone()
  send("Do the tests pass?")
end

function M.done()
  open({
    {
      reasoning = "The user wants the places.\nI look for them.",
      tool_calls = {
        { name = "grep_search", arguments = {} },
        { name = "calculator", arguments = {} },
        { name = "missing", arguments = {} },
      },
    },
    { text = "There are **214** places, and 100 × 50 is 5000.", usage = { input = 1234, output = 98 } },
  }, {
    grep_search = said("grep_search", lines(214), '"TODO" in **/*.rs'),
    calculator = said("calculator", "5000", "100 multiply 50"),
  })
  alone()
  send("Use @{grep_search} and @{calculator}")
end

function M.question()
  open({
    {
      text = "I remove the folder.",
      tool_calls = {
        { name = "run_command", arguments = { cmd = "rm -rf target/tmp" } },
        { name = "run_command", arguments = { cmd = "ls" } },
      },
    },
  }, {}, { tools = { "run_command" } })
  alone()
  send("Clean up")
end

function M.long_question()
  write = tool("write_file", {}, {
    opts = { require_approval_before = true },
    output = {
      cmd_string = function()
        return "src/list.rs"
      end,
    },
  })
  open({ answer("write_file", { path = "src/list.rs", text = lines(214) }) }, { write_file = write })
  alone()
  send("Write it")
end

function M.rejected()
  vim.ui.input = function(_, done)
    done("use cargo clean")
  end
  open(
    { answer("run_command", { cmd = "rm -rf target" }), { text = "I use cargo clean then." } },
    {},
    { tools = { "run_command" } }
  )
  alone()
  send("Clean up")
end

function M.denied()
  rules = { bash = { { "*", "allow" }, { "rm *", "deny" } } }
  fake = require("lathe.adapters").extend(
    "scripted",
    { turns = { answer("run_command", { cmd = "rm -rf target" }), { text = "I may not." } } }
  )
  require("lathe").setup({
    adapters = { http = { fake = fake } },
    interactions = { chat = { adapter = "fake" } },
    permission = rules,
  })
  chat = require("lathe").chat({ tools = { "run_command" } })
  alone()
  send("Clean up")
end

function M.resumed()
  require("lathe").setup({
    adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = {} }) } },
    interactions = {
      chat = { adapter = "fake", tools = { grep_search = said("grep_search"), calculator = said("calculator") } },
    },
  })
  vim.ui.select = function(items, _, done)
    done(items[1], 1)
  end
  vim.cmd("Lathe resume")
end

return M
