-- The log file: appended to, rotated by size, never truncated at start. No prompt, file text or key above debug level.
local M = {}

local uv = vim.uv
local MAX_BYTES = 1024 * 1024
local folder = vim.fn.stdpath("log") --[[@as string]]
local debugging = vim.env.LATHE_LOG == "debug"

---The file that the log is written to; the one before it has the suffix `.1`.
M.path = folder .. "/lathe.log"

---Appends one line. Only luv and io: it must work in a fast event.
---@param level "debug"|"warn"|"error"
---@param text string
local function write(level, text)
  local file = io.open(M.path, "a")
  if not file then
    uv.fs_mkdir(vim.fs.dirname(folder), 448)
    uv.fs_mkdir(folder, 448)
    file = io.open(M.path, "a")
  end
  if not file then
    return
  end
  if file:seek("end") > MAX_BYTES then
    file:close()
    local stat = uv.fs_stat(M.path) -- another Neovim may have done it meanwhile
    if stat and stat.size > MAX_BYTES then
      uv.fs_rename(M.path, M.path .. ".1")
    end
    file = io.open(M.path, "a")
    if not file then
      return
    end
  end
  file:write(os.date("%Y-%m-%d %H:%M:%S "), level, " ", text, "\n")
  file:close()
end

---For a closer look, with `LATHE_LOG=debug`.
---@param text string
function M.debug(text)
  if debugging then
    write("debug", text)
  end
end

---What did not go as it should.
---@param text string
function M.warn(text)
  write("warn", text)
end

---What has failed.
---@param text string
function M.error(text)
  write("error", text)
end

return M
