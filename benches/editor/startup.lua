-- What startup.rs runs in its editor.

local M = {}

-- In a Neovim that has just started: nanoseconds for `require` and `setup()`, and whether the library is loaded after it.
function M.measure()
  local start = vim.uv.hrtime()
  require("lathe").setup({})
  local ns = vim.uv.hrtime() - start
  local loaded = package.loaded.lathe_core ~= nil
  for line in io.open("/proc/self/maps") and io.lines("/proc/self/maps") or function() end do
    loaded = loaded or line:find("lathe_core", 1, true) ~= nil
  end
  io.stdout:write(("%d %s\n"):format(ns, tostring(loaded)))
  vim.cmd.quit()
end

return M
