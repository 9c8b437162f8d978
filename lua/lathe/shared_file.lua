-- Files that several Neovims write: read again under a lock, and replaced whole. Only luv: it must work in a fast event.
local M = {}

local core = require("lathe.core")

local uv = vim.uv
local PRIVATE_FILE, PRIVATE_FOLDER = 384, 448 -- 0600, 0700

local count = 0

---Makes a folder and those above it.
---@param path string
---@return string? err
function M.make_folder(path)
  local ok, err, code = uv.fs_mkdir(path, PRIVATE_FOLDER)
  if not ok and code == "ENOENT" then
    return M.make_folder(vim.fs.dirname(path)) or M.make_folder(path)
  end
  local stat = uv.fs_stat(path)
  return not (ok or (stat and stat.type == "directory")) and err or nil
end

---Keeps other Neovims out meanwhile.
---@param lock string the lock's file
---@param run fun(): ...
---@return string? err why there is no lock; then nothing was run
---@return any ... what `run` returned
function M.locked(lock, run)
  if not core.lib and vim.in_fast_event() then
    return "the library is not loaded yet"
  end
  local lib, message = core.load()
  if not lib then
    return message
  end
  local held = lib.lock_file({ path = lock })
  if type(held) == "string" then
    return held
  end
  local results = vim.F.pack_len(pcall(run))
  held:release()
  if not results[1] then
    error(results[2], 0)
  end
  return nil, unpack(results, 2, results.n)
end

---The whole of a file.
---@param path string
---@return string? text
---@return string? err
---@return string? code such as "ENOENT"
function M.read(path)
  local stat = uv.fs_stat(path)
  if stat and stat.type ~= "file" then
    return nil, "it is a " .. stat.type -- a pipe would be waited for
  end
  local fd, err, code = uv.fs_open(path, "r", 0)
  if not fd then
    return nil, err, code
  end
  local parts, at = {}, 0
  local part
  repeat
    part, err, code = uv.fs_read(fd, 65536, at)
    parts[#parts + 1] = part
    at = at + #(part or "")
  until not part or part == ""
  uv.fs_close(fd)
  return part and table.concat(parts), err, code
end

---@param fd integer
---@param text string
---@return string? err
local function write_all(fd, text)
  local at = 0
  while at < #text do
    local written, err = uv.fs_write(fd, at == 0 and text or text:sub(at + 1), at)
    if not written or written == 0 then
      return err or "nothing was written"
    end
    at = at + written
  end
end

---Replaces a file whole, or leaves it as it is. It keeps its mode; a new one is the user's only.
---@param path string
---@param text string
---@return string? err
function M.replace(path, text)
  local folder_err = M.make_folder(vim.fs.dirname(path))
  if folder_err then
    return folder_err
  end
  count = count + 1
  -- Hidden: whoever lists the folder is not shown what is half done.
  local name = (".%s.%d.%d"):format(vim.fs.basename(path):sub(1, 200), uv.os_getpid(), count)
  local temporary = vim.fs.joinpath(vim.fs.dirname(path), name)
  local fd, err = uv.fs_open(temporary, "wx", PRIVATE_FILE)
  if not fd then
    return err
  end
  err = write_all(fd, text)
  local stat = uv.fs_stat(path)
  if stat then
    uv.fs_fchmod(fd, stat.mode % 4096)
  end
  local closed, close_err = uv.fs_close(fd)
  err = err or not closed and close_err or nil
  local renamed, rename_err = nil, nil
  if not err then
    renamed, rename_err = uv.fs_rename(temporary, path)
  end
  if not renamed then
    uv.fs_unlink(temporary)
  end
  return err or rename_err
end

return M
