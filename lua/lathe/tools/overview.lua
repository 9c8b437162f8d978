-- What `:Lathe tools` lists: every tool and group with its state and the reason for it.
local M = {}

local tools = require("lathe.tools")

---@param text any
---@return string
local function one_line(text)
  return type(text) == "string" and vim.trim((text:gsub("%s+", " "))) or ""
end

---@param chat lathe.Chat?
---@param name string
---@return string? state nil: it can be used
---@return string? about
---@return string kind
local function look_up(chat, name)
  local listed, off = tools.look_up(name, chat)
  if not listed or off then
    return "disabled: " .. (off or "there is none"), nil, listed and listed.kind or "lua"
  end
  local found, fault, kind = tools.definition(name, chat, true)
  if not found then
    local why = fault and fault.message or "it has no definition"
    return "faulty: " .. why:gsub('^tool "[^"]*": ', ""), found and listed.description, kind
  end
  local tool = found.tool
  if found.provider or not tool then
    return nil, listed.description, kind
  end
  return nil, tool.description or tool.schema["function"].description, kind
end

---The lines of the list.
---@param chat lathe.Chat? whose tools are marked
---@return string[]
function M.lines(chat)
  local registry = chat and chat.tool_registry
  local rows, widest = {}, 0
  local names = tools.all_names(chat)
  for _, name in ipairs(names) do
    local fault, about, kind = look_up(chat, name)
    local is_offered = not fault and registry and registry.in_use[name] or false
    rows[#rows + 1] = { is_offered, name, kind, fault or (is_offered and "offered" or "not offered"), one_line(about) }
    widest = math.max(widest, vim.fn.strdisplaywidth(name))
  end
  local groups = tools.groups(chat)
  for _, name in ipairs(groups) do
    widest = math.max(widest, vim.fn.strdisplaywidth(name))
  end
  local function pad(name)
    return name .. (" "):rep(widest - vim.fn.strdisplaywidth(name))
  end
  local lines = { chat and "Tools (* offered in this chat)" or "Tools" }
  for _, row in ipairs(rows) do
    local about = row[5] ~= "" and "  " .. row[5] or ""
    lines[#lines + 1] = (" %s %s  %-8s  %s%s"):format(
      row[1] and "*" or " ",
      pad(row[2]),
      row[3],
      one_line(row[4]),
      about
    )
  end
  if not rows[1] then
    lines[#lines + 1] = "   none are configured"
  end
  if groups[1] then
    lines[#lines + 1] = ""
    lines[#lines + 1] = "Groups"
  end
  for _, name in ipairs(groups) do
    local group = tools.group(name, chat) or {}
    local is_offered = registry and registry.groups[name]
    local about = one_line(group.description)
    if tools.is_group_off(name, chat) then
      about = "disabled: all its tools are off" .. (about ~= "" and "  " .. about or "")
    end
    local collapsed = not group.opts or group.opts.collapse_tools ~= false
    local members = group.tools or {}
    local line = (" %s %s  %s"):format(is_offered and "*" or " ", pad(name), about)
    if collapsed then
      lines[#lines + 1] = line .. (about ~= "" and "  " or "") .. ("(%s)"):format(table.concat(members, ", "))
    else
      lines[#lines + 1] = (line:gsub("%s+$", ""))
      for _, member in ipairs(members) do
        lines[#lines + 1] = "     " .. tostring(member)
      end
    end
  end
  for i, one in ipairs(tools.unready()) do
    if i == 1 then
      vim.list_extend(lines, { "", "Sources that are not ready" })
    end
    lines[#lines + 1] = ("   %s  %s"):format(one.name, one_line(one.message and "failed: " .. one.message or one.state))
  end
  return lines
end

return M
