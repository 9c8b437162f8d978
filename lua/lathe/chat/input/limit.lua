-- Texts of others within `tool_output`: what servers put into a message.
local M = {}

local block = require("lathe.chat.draw.block")

---@param text string
---@param max_lines integer
---@return integer bytes of so many lines
local function bytes_of(text, max_lines)
  local at = 0
  for _ = 1, max_lines do
    local next_at = text:find("\n", at + 1, true)
    if not next_at then
      return #text
    end
    at = next_at
  end
  return at - 1
end

---The beginning of a text, as much as fits.
---@param text string
---@param limits { max_lines: integer, max_bytes: integer }
---@return string text with a mark where something is missing
---@return string? mark nil when nothing is
function M.text(text, limits)
  local head = block.cut(text, limits.max_bytes)
  local is_cut = #head < #text
  head = head:sub(1, is_cut and -#"…" - 1 or -1)
  local bytes = bytes_of(head, limits.max_lines)
  if not is_cut and bytes == #text then
    return text
  end
  head = head:sub(1, bytes)
  local mark = ("cut at %d of %d bytes"):format(#head, #text)
  return ("%s\n[%s]"):format(head, mark), mark
end

return M
