-- The files of the memory tool: where a path leads, and what each command does there. Nothing leads out of the folder
-- but what the user has listed.
local M = {}

local shared_file = require("lathe.shared_file")

local uv = vim.uv

local ROOT = "/memories"
local MAX_BYTES = 1024 * 1024
local MAX_ENTRIES = 500
local MAX_DEPTH = 2

---@return string folder that stands for `/memories`
local function root()
  local folder = vim.fs.joinpath(vim.fn.stdpath("state"), "lathe", "memories")
  vim.fn.mkdir(folder, "p", tonumber("700", 8))
  return uv.fs_realpath(folder) or folder
end

---The same without `.` and empty parts. Nil: it goes up, or is no path at all.
---@param path any
---@return string?
local function clean(path)
  if type(path) ~= "string" or path == "" or path:find("[%z\n]") then
    return nil
  end
  local parts = {}
  for part in path:gmatch("[^/]+") do
    if part == ".." then
      return nil
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return (path:sub(1, 1) == "/" and "/" or "") .. table.concat(parts, "/")
end

---@param path string
---@param folder string
---@return boolean
local function is_below(path, folder)
  return path == folder or vim.startswith(path, folder == "/" and "/" or folder .. "/")
end

---Where a path really is: links are followed as far as there is something.
---@param path string absolute
---@return string?
local function real(path)
  local rest = ""
  while true do
    local found = uv.fs_realpath(path)
    if found then
      return found == "/" and (rest == "" and "/" or rest) or found .. rest
    elseif uv.fs_lstat(path) or path == "/" then
      return nil -- a link that leads nowhere: what would be made there is anybody's guess
    end
    rest = "/" .. vim.fs.basename(path) .. rest
    path = vim.fs.dirname(path)
  end
end

---@class lathe.MemoryPlace
---@field path string in the file system
---@field shown string as the model names it
---@field is_root boolean
---@field is_own boolean whether it is below `/memories`

---Finds the place of a path, if the model may go there.
---@param path any
---@param listed any folders and files that are open to it besides
---@return lathe.MemoryPlace? place
---@return string? message
function M.place(path, listed)
  local shown = clean(path)
  local outside = ("Error: The path %s is not below %s."):format(tostring(path), ROOT)
  if not shown then
    return nil, outside
  end
  if is_below(shown, ROOT) then
    local folder = root()
    local found = real(folder .. shown:sub(#ROOT + 1))
    if not found or not is_below(found, folder) then
      return nil, outside
    end
    return { path = found, shown = shown, is_root = found == folder, is_own = true }
  end
  for _, entry in ipairs(type(listed) == "table" and listed or {}) do
    local allowed = type(entry) == "string" and real(vim.fs.abspath(vim.fs.normalize(entry)))
    local found = allowed and real(vim.fs.abspath(shown))
    if allowed and found and is_below(found, allowed) then
      return { path = found, shown = shown, is_root = found == allowed, is_own = false }
    end
  end
  return nil, outside
end

---@param place lathe.MemoryPlace
---@return string
local function missing(place)
  return ("Error: The path %s does not exist. Give one that exists."):format(place.shown)
end

---@param place lathe.MemoryPlace
---@return string? text
---@return string? message
local function read(place)
  local stat = uv.fs_stat(place.path)
  if not stat then
    return nil, missing(place)
  elseif stat.type ~= "file" then
    return nil, ("Error: %s is not a file."):format(place.shown)
  elseif stat.size > MAX_BYTES then
    return nil, ("Error: %s is longer than 1 MiB."):format(place.shown)
  end
  local file, why = io.open(place.path, "rb")
  if not file then
    return nil, ("Error: %s cannot be read: %s"):format(place.shown, why)
  end
  local text = file:read("*a")
  file:close()
  return text
end

---Writes a file whole or not at all.
---@param place lathe.MemoryPlace
---@param text string
---@return string? message
local function write(place, text)
  if #text > MAX_BYTES then
    return ("Error: %s would be longer than 1 MiB."):format(place.shown)
  end
  local err = shared_file.replace(place.path, text)
  return err and ("Error: %s cannot be written: %s"):format(place.shown, err)
end

---@param text string
---@return string[]
local function lines_of(text)
  local lines = vim.split(text, "\n", { plain = true })
  if lines[#lines] == "" then
    lines[#lines] = nil
  end
  return lines
end

---@param lines string[]
---@param from integer
---@param to integer
---@return string
local function numbered(lines, from, to)
  local shown = {}
  for i = math.max(from, 1), math.min(to, #lines) do
    shown[#shown + 1] = ("%6d\t%s"):format(i, lines[i])
  end
  return table.concat(shown, "\n")
end

---@param place lathe.MemoryPlace
---@param depth integer
---@param into string[]
local function list(place, depth, into)
  local names = {}
  for name in vim.fs.dir(place.path) do
    if name:sub(1, 1) ~= "." and name ~= "node_modules" then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    if #into >= MAX_ENTRIES then
      into[MAX_ENTRIES + 1] = "…"
      return
    end
    local inner = { path = place.path .. "/" .. name, shown = place.shown .. "/" .. name }
    local stat = uv.fs_lstat(inner.path)
    local is_folder = stat and stat.type == "directory"
    into[#into + 1] = ("%d\t%s"):format(stat and stat.size or 0, inner.shown .. (is_folder and "/" or ""))
    if is_folder and depth < MAX_DEPTH then
      list(inner, depth + 1, into)
    end
  end
end

-- Each returns a text for the model; an error begins with "Error".
---@type table<string, fun(place: lathe.MemoryPlace, args: table, listed: any): string>
local commands = {}

function commands.view(place, args)
  local stat = uv.fs_stat(place.path)
  if stat and stat.type == "directory" then
    local entries = {}
    list(place, 1, entries)
    local head = ("Files and folders in %s, two levels deep, without hidden ones, with their sizes in bytes:"):format(
      place.shown
    )
    return head .. "\n" .. (entries[1] and table.concat(entries, "\n") or "(none)")
  end
  local text, message = read(place)
  if not text then
    return message --[[@as string]]
  end
  local lines = lines_of(text)
  local range = type(args.view_range) == "table" and args.view_range or {}
  local from, to = tonumber(range[1]) or 1, tonumber(range[2]) or -1
  return ("The content of %s with line numbers:\n%s"):format(
    place.shown,
    numbered(lines, from, to == -1 and #lines or to)
  )
end

function commands.create(place, args)
  if uv.fs_lstat(place.path) then
    return ("Error: File %s already exists."):format(place.shown)
  end
  return write(place, args.file_text or "") or ("File created successfully at: %s"):format(place.shown)
end

function commands.str_replace(place, args)
  local text, message = read(place)
  local old, new = args.old_str, args.new_str or ""
  if not text then
    return message --[[@as string]]
  elseif not old or old == "" then
    return "Error: old_str is missing."
  end
  local at, last = text:find(old, 1, true)
  if not at then
    return ("Error: Nothing was replaced: old_str `%s` is not in %s, letter for letter."):format(old, place.shown)
  end
  local places, from = {}, 1
  while true do
    local found = text:find(old, from, true)
    if not found then
      break
    end
    places[#places + 1] = #vim.split(text:sub(1, found), "\n", { plain = true })
    from = found + 1
  end
  if places[2] then
    local where = table.concat(places, ", ")
    return ("Error: Nothing was replaced: old_str `%s` is there several times, in lines %s."):format(old, where)
  end
  local edited = text:sub(1, at - 1) .. new .. text:sub(last + 1)
  local line = places[1]
  return write(place, edited)
    or "The file was edited:\n" .. numbered(lines_of(edited), line - 2, line + #vim.split(new, "\n") + 1)
end

function commands.insert(place, args)
  local text, message = read(place)
  if not text then
    return message --[[@as string]]
  end
  local lines, at = lines_of(text), args.insert_line
  if type(at) ~= "number" or at % 1 ~= 0 or at < 0 or at > #lines then
    return ("Error: insert_line must be from 0 to %d, the lines of the file."):format(#lines)
  end
  for i, line in ipairs(lines_of(args.insert_text or "")) do
    table.insert(lines, at + i, line)
  end
  return write(place, table.concat(lines, "\n") .. "\n") or ("The file %s was edited."):format(place.shown)
end

function commands.delete(place)
  if place.is_root then
    return ("Error: %s itself stays."):format(place.shown)
  elseif not uv.fs_lstat(place.path) then
    return missing(place)
  end
  local gone = vim.fn.delete(place.path, "rf") == 0
  return (gone and "Successfully deleted %s" or "Error: %s cannot be deleted."):format(place.shown)
end

function commands.rename(place, args, listed)
  local target, message = M.place(args.new_path, listed)
  if not target then
    return message --[[@as string]]
  elseif place.is_root then
    return ("Error: %s itself stays."):format(place.shown)
  elseif not uv.fs_lstat(place.path) then
    return missing(place)
  elseif uv.fs_lstat(target.path) then
    return ("Error: The destination %s already exists."):format(target.shown)
  end
  pcall(vim.fn.mkdir, vim.fs.dirname(target.path), "p", tonumber("700", 8))
  local moved = uv.fs_rename(place.path, target.path)
  return moved and ("Successfully renamed %s to %s"):format(place.shown, target.shown)
    or ("Error: %s cannot be renamed to %s."):format(place.shown, target.shown)
end

---Runs a call.
---@param args table
---@param listed any
---@return string text for the model
---@return boolean succeeded
---@return boolean is_locked another Neovim changes the files at this moment
function M.run(args, listed)
  local place, message = M.place(args.command == "rename" and args.old_path or args.path, listed)
  local command = commands[args.command]
  local text = not command and "Error: There is no such command." or message
  local err
  if not text and args.command == "view" then
    text = command(place, args)
  elseif not text then
    err, text = shared_file.locked(root() .. ".lock", function()
      return command(place, args, listed)
    end)
    text = text or "Error: Nothing was changed: " .. err
  end
  local failed = vim.startswith(text, "Error: ")
  return failed and text:sub(#"Error: " + 1) or text, not failed, err ~= nil
end

return M
