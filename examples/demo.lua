-- The main job without network or key: a message, a tool call, its result, the answer. With a UI it is shown in a chat;
-- without one (`nvim --headless`) the transcript is printed and the exit code says whether all of it was there.
local MESSAGE = "Use the @{calculator} tool for 100*50"
local LIMIT_MS = 10000

local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, "S").source:sub(2)))
vim.opt.runtimepath:prepend(vim.fs.dirname(here))
vim.cmd.runtime("plugin/lathe.lua")
-- The calculator tells about its steps in messages: show each for a moment instead of asking for <Enter>.
vim.o.messagesopt = "wait:400,history:500"
-- A fault in it is told after the start: a Neovim without a UI that throws here would wait for ever.
local loaded, load_fault = pcall(dofile, here .. "/calculator.lua")

---@param chat lathe.Chat
---@return string? fault what is missing
local function find_fault(chat)
  local result, answer
  for _, message in ipairs(chat.messages) do
    if message.role == "tool" then
      result = message
    elseif message.role == "llm" and message.content ~= "" then
      answer = message.content
    end
  end
  local shown = table.concat(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false), "\n")
  if not shown:find(MESSAGE, 1, true) then
    return "the message is not in the chat"
  elseif not result or result.tools.is_error or result.content ~= "5000" then
    return "the tool's result is " .. vim.inspect(result and result.content) .. ", not 5000"
  elseif not answer then
    return "there is no closing answer"
  elseif not shown:find("\n  5000\n", 1, true) or not shown:find(answer, 1, true) then
    return "the result or the answer is not in the chat"
  end
end

---@param code integer
---@param fault string?
local function leave(code, fault)
  if fault then
    io.stderr:write("\ndemo: " .. fault .. "\n")
  end
  vim.cmd.cquit({ count = code })
end

local function run_headless()
  vim.notify = function(text)
    io.stderr:write(text, "\n")
  end
  local chat, fault = require("lathe").chat({ prompt = MESSAGE, hidden = true })
  if not chat then
    return leave(1, fault)
  end
  local timer = assert(vim.uv.new_timer())
  timer:start(
    LIMIT_MS,
    0,
    vim.schedule_wrap(function()
      leave(1, ("not done after %d s"):format(LIMIT_MS / 1000))
    end)
  )
  vim.api.nvim_create_autocmd("User", {
    pattern = { "LatheChatDone", "LatheChatStopped" },
    callback = vim.schedule_wrap(function()
      io.stdout:write(table.concat(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false), "\n"), "\n")
      io.stdout:flush()
      fault = find_fault(chat)
      leave(fault and 1 or 0, fault)
    end),
  })
  chat:submit()
end

vim.api.nvim_create_autocmd("VimEnter", {
  callback = function()
    if #vim.api.nvim_list_uis() == 0 then
      local ok, err = loaded, load_fault
      if ok then
        ok, err = pcall(run_headless)
      end
      if not ok then
        leave(1, tostring(err))
      end
    elseif not loaded then
      error(load_fault, 0)
    else
      require("lathe").chat({ prompt = MESSAGE, submit = true })
    end
  end,
})
