-- Options of tools by the names that they had, and those that nobody knows.
local M = {}

local nearest = require("lathe.nearest")

-- What an entry's `opts` may have besides what the tool's own have.
local known = {
  require_approval_before = true,
  require_cmd_approval = true,
  protect = true,
  judge = true,
  timeout = true,
  use_handlers_once = true,
  parallel = true,
  background = true,
}

-- How each older name is told.
local older = {
  requires_approval = "require_approval_before",
  user_approval = "require_approval_before",
  allowed_in_yolo_mode = "protect = true when it is false",
  judge_in_yolo_mode = "judge and require_cmd_approval",
}

---The more careful of two values of `require_approval_before`.
---@param one any
---@param other any
---@return any
local function stricter(one, other)
  if one == nil or one == other then
    return other
  elseif other == nil then
    return one
  elseif one == false then
    return other
  elseif other == false then
    return one
  end
  return true
end

---Options by today's names. An older name and today's in one table count as the more careful of both.
---@param opts table?
---@return table
---@return string[] used the older names in it, sorted
function M.translate(opts)
  local result, used = {}, {}
  for key, value in pairs(opts or {}) do
    result[key] = value
    used[#used + 1] = older[key] and key or nil
  end
  table.sort(used)
  for _, name in ipairs({ "requires_approval", "user_approval" }) do
    result.require_approval_before = stricter(result.require_approval_before, result[name])
  end
  if result.allowed_in_yolo_mode == false then
    result.protect = true
  elseif result.allowed_in_yolo_mode ~= nil and result.protect == nil then
    result.protect = false
  end
  local judged = result.judge_in_yolo_mode
  if judged and result.judge == nil then
    result.judge = true
  end
  if judged and result.require_cmd_approval == nil then
    -- In auto mode such a tool runs when the judge agrees, and asks otherwise.
    result.require_cmd_approval = true
  end
  return result, used
end

---What is told of older names.
---@param names string[]
---@return string? notice
function M.notice(names)
  local seen, parts = {}, {}
  for _, name in ipairs(names) do
    if not seen[name] then
      seen[name] = true
      parts[#parts + 1] = ("%s (now %s)"):format(name, older[name])
    end
  end
  return parts[1] and "options have older names, which count as today's: " .. table.concat(parts, ", ") or nil
end

---What is told of options in an entry that neither lathe nor the tool knows.
---@param opts table? of the entry
---@param own table? of the tool
---@return string? notice
function M.unknown(opts, own)
  local names = {}
  for key in pairs(opts or {}) do
    local is_known = known[key] or older[key] or (own and own[key] ~= nil)
    names[#names + 1] = not is_known and tostring(key) or nil
  end
  table.sort(names)
  for i, name in ipairs(names) do
    local near = nearest.name(name, vim.tbl_keys(known))
    names[i] = ("opts.%s%s"):format(name, near and (" (did you mean %s?)"):format(near) or "")
  end
  return names[1] and "unknown options: " .. table.concat(names, ", ") or nil
end

return M
