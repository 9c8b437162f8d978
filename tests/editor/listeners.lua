-- What listeners.rs runs in its editor.
-- luacheck: globals chat data_ok deleted heard ok once seen victim victims whole

local M = {}

function M.failing()
  heard = {}
  vim.api.nvim_create_autocmd("User", {
    pattern = "Lathe*",
    callback = function(args)
      error("boom at " .. args.match)
    end,
  })
  vim.api.nvim_create_autocmd("User", {
    pattern = "LatheChatDone",
    callback = function()
      error({ code = 7 })
    end,
  })
  vim.api.nvim_create_autocmd("User", {
    pattern = "LatheChatDone",
    callback = function()
      vim.cmd("nonsense")
    end,
  })
  vim.api.nvim_create_autocmd("User", {
    pattern = "Lathe*",
    callback = function(args)
      heard[#heard + 1] = args.match
    end,
  })
end

function M.long_errors()
  vim.api.nvim_create_autocmd("User", {
    pattern = "Lathe*",
    callback = function()
      error(("long "):rep(50) .. "\nmore\nlines")
    end,
  })
  vim.cmd("autocmd User LatheRequestStarted nonsense command")
  vim.cmd("autocmd User LatheRequestStarted let g:never = 1")
end

function M.callbacks()
  seen = {}
  local group = vim.api.nvim_create_augroup("others", {})
  local id
  id = vim.api.nvim_create_autocmd("User", {
    group = group,
    pattern = { "LatheChatDone", "LatheChat[SX]*" },
    callback = function(args)
      seen[#seen + 1] = {
        args.match,
        args.event,
        args.file,
        args.group == group,
        args.id >= id,
        vim.fn.expand("<amatch>"),
        args.data.chat_id == chat.id,
        args.buf == vim.api.nvim_get_current_buf(),
      }
      args.data.chat_id = "changed" -- for nobody else
    end,
  })
  vim.api.nvim_create_autocmd("User", {
    pattern = "LatheChatDone",
    once = true,
    callback = function(args)
      once = (once or 0) + 1
      data_ok = args.data.chat_id == chat.id
    end,
  })
  vim.api.nvim_create_autocmd("User", {
    pattern = "LatheChatDone",
    callback = function()
      deleted = (deleted or 0) + 1
      return true
    end,
  })
  vim.api.nvim_create_autocmd("User", {
    pattern = "LatheChatDone",
    callback = function()
      pcall(vim.api.nvim_del_autocmd, victim)
    end,
  })
  victim = vim.api.nvim_create_autocmd("User", {
    pattern = "LatheChatDone",
    callback = function()
      victims = (victims or 0) + 1
    end,
  })
  vim.api.nvim_create_autocmd("User", {
    pattern = "LatheChatDone",
    callback = function()
      ok = pcall(vim.cmd, "nonsense")
      print("printed by a callback")
    end,
  })
end

function M.last_texts()
  whole = {}
  vim.api.nvim_create_autocmd("User", {
    pattern = { "LatheChatDone", "LatheChatStopped", "LatheChatSubmitted", "LatheChatClosed" },
    callback = function(args)
      local lines = vim.api.nvim_buf_is_valid(chat.bufnr) and vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false) or {}
      local text = table.concat(lines, "\n")
      whole[#whole + 1] = args.match:sub(10)
        .. args.data.id
        .. (text:find("the very end " .. args.data.id, 1, true) and "+" or "-")
    end,
  })
  local function long(n)
    local line = ("some words of a long answer "):rep(3) .. "\n"
    return line:rep(20000) .. "the very end " .. n
  end
  local many = {}
  for i = 1, 3000 do
    many[i] = { name = "t", arguments = { n = i } }
  end
  open(
    { { text = long(1) }, { text = long(2) }, { tool_calls = many }, { text = "the very end 3" }, { text = long(4) } },
    { t = tool("t", {
      function()
        return { status = "success", data = "x" }
      end,
    }) }
  )
  chat.adapter.name = "fake"
  send("one")
end

function M.next_turn()
  send("four")
  vim.api.nvim_create_autocmd("User", {
    pattern = "LatheRequestFinished",
    once = true,
    callback = function()
      vim.schedule(function()
        send("five")
      end)
    end,
  })
end

return M
