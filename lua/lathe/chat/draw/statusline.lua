-- One line about a chat for 'winbar', 'statusline' and the like. It is asked for with every redraw: it only looks.
local M = {}

local block = require("lathe.chat.draw.block")

local ticking = false

---Has the lines drawn again while what they show goes on by itself.
local function tick()
  if ticking then
    return
  end
  ticking = true
  vim.defer_fn(function()
    ticking = false
    pcall(vim.cmd.redrawstatus, { bang = true })
  end, 1000)
end

---@param tokens integer
---@return string such as `87` or `1.2k`
local function short(tokens)
  return tokens < 100 and tostring(tokens) or ("%.1fk"):format(tokens / 1000)
end

---@param adapter lathe.Adapter?
---@return string
local function name_of(adapter)
  if not adapter then
    return "no adapter"
  end
  local model = adapter.model
  if not model and adapter.schema and adapter.schema.model then
    model = adapter.schema.model.default
  end
  local name = adapter.formatted_name or adapter.name
  return type(model) == "string" and name .. " · " .. model or name
end

---What is going on in a chat.
---@param chat lathe.Chat?
---@return string text empty without a chat
function M.text(chat)
  if not chat then
    return ""
  end
  local parts = { name_of(chat.adapter) }
  local usage = chat.usage
  if usage and usage.input then
    parts[#parts + 1] = ("%s/%s tokens"):format(short(usage.input), short(usage.output or 0))
  end
  if chat.is_auto then
    parts[#parts + 1] = "auto"
  end
  if chat.is_running then
    local ms = vim.uv.now() - (chat.started_ms or vim.uv.now())
    parts[#parts + 1] = #chat.questions > 0 and "asks" or "running"
    parts[#parts] = parts[#parts] .. " " .. block.clock(ms)
    tick()
  end
  if chat.render.held then
    parts[#parts + 1] = "queued"
  end
  return (table.concat(parts, "  "):gsub("%c", " "):gsub("%%", "%%%%"))
end

return M
