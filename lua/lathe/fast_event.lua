-- Fast events, where Neovim's API is out of reach: what can wait is done a moment later, what must answer at once refuses.
local M = {}

---Runs it on the main loop: now, or later in a fast event.
---@param run fun(...)
---@param ... any
function M.later(run, ...)
  if not vim.in_fast_event() then
    return run(...)
  end
  local args = vim.F.pack_len(...)
  vim.schedule(function()
    local ok, err = pcall(run, unpack(args, 1, args.n))
    if not ok then
      require("lathe.notify").error(require("lathe.readable").text(err))
    end
  end)
end

---Raises an error in a fast event.
---@param name string of the function that cannot be called there
function M.refuse(name)
  if vim.in_fast_event() then
    error(("lathe: %s cannot be called in a fast event: use vim.schedule()"):format(name), 0)
  end
end

---Makes functions of a table wait for the main loop.
---@param holder table
---@param names string[]
function M.all_later(holder, names)
  for _, name in ipairs(names) do
    local run = holder[name]
    holder[name] = function(...)
      return M.later(run, ...)
    end
  end
end

---Makes functions of a table refuse.
---@param holder table
---@param prefix string
---@param names string[]
function M.all_refuse(holder, prefix, names)
  for _, name in ipairs(names) do
    local run = holder[name]
    holder[name] = function(...)
      M.refuse(prefix .. name .. "()")
      return run(...)
    end
  end
end

return M
