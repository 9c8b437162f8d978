-- The files of the memory tool: what each command does there. Where a path leads is in `memory_paths.lua`, what a text is in
-- `memory_text.lua`.
local M = {}

local memory_paths = require("lathe.tools.memory_paths")
local memory_text = require("lathe.tools.memory_text")
local shared_file = require("lathe.shared_file")

local uv = vim.uv

local MAX_BYTES = 1024 * 1024
local MAX_ENTRIES = 500
local MAX_DEPTH = 2

M.place = memory_paths.find

---@class lathe.MemoryFault why nothing was done, for the model
---@field fault string

---@param text string
---@return lathe.MemoryFault
local function fault(text, ...)
  return { fault = text:format(...) }
end

---@param place lathe.MemoryPlace
---@return lathe.MemoryFault
local function missing(place)
  return fault("The path %s does not exist. Give one that exists.", place.shown)
end

---@param place lathe.MemoryPlace
---@return lathe.MemoryText? memory
---@return lathe.MemoryFault?
local function read(place)
  local stat = uv.fs_stat(place.path)
  if not stat then
    return nil, missing(place)
  elseif stat.type ~= "file" then
    return nil, fault("%s is not a file.", place.shown)
  elseif stat.size > MAX_BYTES then
    return nil, fault("%s is longer than 1 MiB.", place.shown)
  end
  local file, why = io.open(place.path, "rb")
  if not file then
    return nil, fault("%s cannot be read: %s", place.shown, why)
  end
  local bytes = file:read("*a")
  file:close()
  return memory_text.read(bytes)
end

---@param place lathe.MemoryPlace
---@return lathe.MemoryFault?
local function edited_by_user(place)
  if memory_text.is_being_edited(place.path) then
    return fault("%s is open in the editor with changes that are not saved. Ask the user to save it.", place.shown)
  end
end

---Writes a file whole or not at all.
---@param place lathe.MemoryPlace
---@param text string
---@return lathe.MemoryFault?
local function write(place, text)
  if #text > MAX_BYTES then
    return fault("%s would be longer than 1 MiB.", place.shown)
  end
  local err = shared_file.replace(place.path, text)
  if err then
    return fault("%s cannot be written: %s", place.shown, err)
  end
  memory_text.reload(place.path)
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
  local memory, message = read(place)
  if not memory then
    return message --[[@as string]]
  end
  local lines = lines_of(memory.text)
  local range = type(args.view_range) == "table" and args.view_range or {}
  local from, to = tonumber(range[1]) or 1, tonumber(range[2]) or -1
  return ("The content of %s with line numbers:\n%s"):format(
    place.shown,
    numbered(lines, from, to == -1 and #lines or to)
  )
end

function commands.create(place, args)
  if uv.fs_lstat(place.path) then
    return fault("File %s already exists.", place.shown)
  end
  return edited_by_user(place)
    or write(place, args.file_text or "")
    or ("File created successfully at: %s"):format(place.shown)
end

function commands.str_replace(place, args)
  local memory, message = read(place)
  message = message or edited_by_user(place)
  if not memory or message then
    return message --[[@as lathe.MemoryFault]]
  elseif not args.old_str or args.old_str == "" then
    return fault("old_str is missing.")
  end
  local text, old, new = memory.text, args.old_str, args.new_str or ""
  if memory.has_returns then
    old, new = memory_text.plain(old), memory_text.plain(new)
  end
  local at, last = text:find(old, 1, true)
  if not at then
    return fault("Nothing was replaced: old_str `%s` is not in %s, letter for letter.", old, place.shown)
  end
  local places_of, from = {}, 1
  while true do
    local found = text:find(old, from, true)
    if not found then
      break
    end
    places_of[#places_of + 1] = #vim.split(text:sub(1, found), "\n", { plain = true })
    from = found + 1
  end
  if places_of[2] then
    local where = table.concat(places_of, ", ")
    return fault("Nothing was replaced: old_str `%s` is there several times, in lines %s.", old, where)
  end
  local edited = text:sub(1, at - 1) .. new .. text:sub(last + 1)
  local line = places_of[1]
  return write(place, memory_text.write(memory, edited))
    or "The file was edited:\n" .. numbered(lines_of(edited), line - 2, line + #vim.split(new, "\n") + 1)
end

function commands.insert(place, args)
  local memory, message = read(place)
  message = message or edited_by_user(place)
  if not memory or message then
    return message --[[@as lathe.MemoryFault]]
  elseif not args.insert_text or args.insert_text == "" then
    return fault("insert_text is missing.")
  end
  local lines, at = lines_of(memory.text), args.insert_line
  if type(at) ~= "number" or at % 1 ~= 0 or at < 0 or at > #lines then
    return fault("insert_line must be from 0 to %d, the lines of the file.", #lines)
  end
  local given = memory.has_returns and memory_text.plain(args.insert_text) or args.insert_text
  -- The end of the file stays as it is; what comes behind it ends as the model has written it.
  local ends = memory.text == "" or memory.text:sub(-1) == "\n"
  if at == #lines then
    ends = ends or given:sub(-1) == "\n"
  end
  for i, line in ipairs(lines_of(given)) do
    table.insert(lines, at + i, line)
  end
  return write(place, memory_text.write(memory, table.concat(lines, "\n") .. (ends and "\n" or "")))
    or ("The file %s was edited."):format(place.shown)
end

function commands.delete(place)
  if place.is_root then
    return fault("%s itself stays.", place.shown)
  elseif not uv.fs_lstat(place.path) then
    return missing(place)
  end
  local message = edited_by_user(place)
  if message then
    return message
  end
  local gone = vim.fn.delete(place.path, "rf") == 0
  return gone and ("Successfully deleted %s"):format(place.shown) or fault("%s cannot be deleted.", place.shown)
end

function commands.rename(place, args, listed)
  local target, refusal = M.place(args.new_path, listed)
  if not target then
    return fault("%s", refusal)
  elseif place.is_root then
    return fault("%s itself stays.", place.shown)
  elseif not uv.fs_lstat(place.path) then
    return missing(place)
  elseif uv.fs_lstat(target.path) then
    return fault("The destination %s already exists.", target.shown)
  end
  local message = edited_by_user(place)
  if message then
    return message
  end
  pcall(vim.fn.mkdir, vim.fs.dirname(target.path), "p", tonumber("700", 8))
  local moved = uv.fs_rename(place.path, target.path)
  return moved and ("Successfully renamed %s to %s"):format(place.shown, target.shown)
    or fault("%s cannot be renamed to %s.", place.shown, target.shown)
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
  if not command then
    return "There is no such command.", false, false
  elseif not place then
    return message, --[[@as string]]
      false,
      false
  end
  local answer, err
  if args.command == "view" then
    answer = command(place, args)
  else
    err, answer = shared_file.locked(memory_paths.root() .. ".lock", function()
      return command(place, args, listed)
    end)
    answer = answer or fault("Nothing was changed: %s", err)
  end
  if type(answer) == "table" then
    return answer.fault, false, err ~= nil
  end
  return answer, true, false
end

return M
