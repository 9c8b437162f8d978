-- What calls.rs runs in its editor.
-- luacheck: globals bare idle large run took turns

local M = {}

-- `run(calls)` has one turn of so many synchronous calls, `large(numbers)` one call with so many arguments,
-- `turns(count)` so many turns of one call, `bare(calls)` calls the same function and adds one line to a shown
-- markdown buffer for each. `took` is the time in ns, once it is known.
function M.calls()
  local function cmd(_, args)
    return { status = "success", data = args.n + 1 }
  end
  local tool = {
    name = "inc",
    description = "adds one",
    cmds = { cmd },
    schema = {
      type = "function",
      ["function"] = {
        name = "inc",
        description = "adds one",
        parameters = {
          type = "object",
          properties = { n = { type = "integer" } },
          required = { "n" },
        },
      },
    },
    output = {
      success = function(self, stdout, meta)
        meta.tools.chat:add_tool_output(self, { content = tostring(stdout[#stdout]) })
      end,
    },
  }
  local function open(turns)
    require("lathe").setup({
      adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = turns }) } },
      interactions = { chat = { adapter = "fake", tools = { inc = tool } } },
    })
    local chat = require("lathe").chat({ tools = { "inc" }, prompt = "go" })
    vim.cmd.redraw()
    return chat
  end
  local function measure(from, to)
    took = nil
    local group = vim.api.nvim_create_augroup("bench", {})
    local start
    vim.api.nvim_create_autocmd("User", {
      group = group,
      pattern = from,
      once = true,
      callback = function()
        start = vim.uv.hrtime()
      end,
    })
    vim.api.nvim_create_autocmd("User", {
      group = group,
      pattern = to,
      once = true,
      callback = function()
        took = vim.uv.hrtime() - start
        vim.api.nvim_del_augroup_by_id(group)
      end,
    })
  end
  function run(calls)
    local list = {}
    for i = 1, calls do
      list[i] = { name = "inc", arguments = { n = i } }
    end
    local chat = open({ { tool_calls = list }, { text = "done" } })
    measure("LatheToolsStarted", "LatheToolsFinished")
    chat:submit()
  end
  function large(numbers)
    local text = '{"n":1,"list":[' .. ("1,"):rep(numbers - 1) .. "1]}"
    local chat = open({ { tool_calls = { { name = "inc", arguments = text } } }, { text = "done" } })
    measure("LatheChatSubmitted", "LatheChatDone")
    chat:submit()
  end
  function turns(count)
    local n = 0
    local chat = open(function()
      n = n + 1
      return n <= count and { tool_calls = { { name = "inc", arguments = { n = n } } } } or { text = "done" }
    end)
    measure("LatheChatSubmitted", "LatheChatDone")
    chat:submit()
  end
  function bare(calls)
    vim.cmd.vnew()
    local bufnr = vim.api.nvim_get_current_buf()
    vim.treesitter.start(bufnr, "markdown")
    vim.cmd.redraw()
    local self, opts = {}, {}
    local start = vim.uv.hrtime()
    for i = 1, calls do
      local ok, result = pcall(cmd, self, { n = i }, opts)
      assert(ok)
      vim.api.nvim_buf_set_lines(bufnr, -1, -1, false, { tostring(result.data) })
    end
    took = vim.uv.hrtime() - start
    vim.cmd.redraw()
  end
  function idle()
    local counts = require("lathe.core").lib.counts()
    return counts.events == 0 and counts.effects == 0
  end
end

-- In a fresh Neovim: opens the first chat, or a markdown buffer with the text of an empty chat in the same place.
function M.first_chat(kind)
  require("lathe").setup({ interactions = { chat = { adapter = "scripted" } } })
  vim.cmd.redraw()
  local start = vim.uv.hrtime()
  if kind == "chat" then
    require("lathe").chat({ prompt = "hello" })
  else
    vim.cmd("botright vsplit | enew")
    vim.cmd("vertical resize " .. math.floor(vim.o.columns * 0.45))
    vim.bo.buftype = "nofile"
    vim.api.nvim_buf_set_lines(0, 0, -1, false, { "## Me", "", "hello" })
    vim.bo.filetype = "markdown"
    vim.treesitter.start(0, "markdown")
  end
  vim.cmd.redraw()
  return vim.uv.hrtime() - start
end

return M
