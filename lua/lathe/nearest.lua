-- Which of some names was meant by one that is none of them.
local M = {}

---A name without what people mix up: case, dashes, dots, blanks.
---@param name string
---@return string
local function plain(name)
  return (name:lower():gsub("[^%w]", ""))
end

---How many letters must be put in, taken out or changed to make one text of another.
---@param one string
---@param other string
---@param limit integer
---@return integer distance anything above `limit`: it is more than that
local function distance(one, other, limit)
  if math.abs(#one - #other) > limit then
    return limit + 1
  end
  local row = {}
  for k = 0, #other do
    row[k] = k
  end
  for i = 1, #one do
    local diagonal, best = row[0], i
    row[0] = i
    for k = 1, #other do
      local above = row[k]
      local same = one:byte(i) == other:byte(k)
      row[k] = math.min(above + 1, row[k - 1] + 1, diagonal + (same and 0 or 1))
      diagonal = above
      best = math.min(best, row[k])
    end
    if best > limit then
      return limit + 1
    end
  end
  return row[#other]
end

---The name that is most like a wanted one.
---@param wanted string
---@param names string[]
---@return string? name nil: none is like it
function M.name(wanted, names)
  local text = plain(wanted)
  local best, least = nil, math.max(1, math.floor(#text / 3)) + 1
  for _, name in ipairs(names) do
    local far = distance(text, plain(name), least)
    if far < least then
      best, least = name, far
    end
  end
  return best
end

return M
