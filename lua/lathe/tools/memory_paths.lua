-- Where the paths of the memory tool lead: into its own folder, or to what the user has listed. Nothing leads anywhere else.
local M = {}

local uv = vim.uv

local ROOT = "/memories"

---@return string folder that stands for `/memories`
function M.root()
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

---The name under which the model finds an entry of the user's list; nil: it has its own path.
---@param entry any
---@return string? name
local function name_of(entry)
  local name = type(entry) == "table" and type(entry.as) == "string" and clean("/" .. entry.as:gsub("^/+", "")) or nil
  return name ~= "/" and name or nil
end

---The folder or file that an entry stands for.
---@param entry any
---@return string?
local function target_of(entry)
  local path = type(entry) == "table" and entry.path or entry
  return type(path) == "string" and real(vim.fs.abspath(vim.fs.normalize(path))) or nil
end

---Where a path leads through the names that the user has given to folders and files of theirs.
---@param shown string
---@param listed any[]
---@return lathe.MemoryPlace?
local function mounted(shown, listed)
  local best, as
  for _, entry in ipairs(listed) do
    local name = name_of(entry)
    if name and is_below(shown, name) and (not as or #name > #as) then
      best, as = entry, name
    end
  end
  local target = best and target_of(best)
  local found = target and real(target .. shown:sub(#as + 1))
  if target and found and is_below(found, target) then
    return { path = found, shown = shown, is_root = found == target, is_own = false }
  end
end

---@param listed any[]
---@return string
local function places(listed)
  local names = { ROOT }
  for _, entry in ipairs(listed) do
    names[#names + 1] = name_of(entry)
  end
  return table.concat(names, ", ")
end

---Finds the place of a path, if the model may go there.
---@param path any
---@param listed any folders and files that are open to it besides, each a path or `{ path, as }`
---@return lathe.MemoryPlace? place
---@return string? message
function M.find(path, listed)
  local shown = clean(path)
  listed = type(listed) == "table" and listed or {}
  local outside = ("The path %s is not below %s."):format(tostring(path), places(listed))
  if not shown then
    return nil, outside
  end
  local place = mounted(shown, listed)
  if place then
    return place
  end
  if is_below(shown, ROOT) then
    local folder = M.root()
    local found = real(folder .. shown:sub(#ROOT + 1))
    if not found or not is_below(found, folder) then
      return nil, outside
    end
    return { path = found, shown = shown, is_root = found == folder, is_own = true }
  end
  for _, entry in ipairs(listed) do
    local allowed = (type(entry) ~= "table" or entry.as == nil) and target_of(entry)
    local found = allowed and real(vim.fs.abspath(shown))
    if allowed and found and is_below(found, allowed) then
      return { path = found, shown = shown, is_root = found == allowed, is_own = false }
    end
  end
  return nil, outside
end

return M
