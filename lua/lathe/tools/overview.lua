-- What `:Lathe tools` lists: every tool and group with its state and the reason for it.
local M = {}

local provider_tools = require("lathe.adapters.provider_tools")
local provider = require("lathe.tools.provider")
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
---@return string source
local function look_up(chat, name)
  local adapter = chat and chat.adapter
  local entry, wrong = provider_tools.find(adapter, name)
  if wrong then
    return "faulty: " .. wrong, nil, "provider"
  elseif entry and adapter then
    local _, message = provider.client_tool(adapter, name, entry)
    return message and "faulty: " .. message or nil, entry.description, "provider"
  end
  local source = tools.source_kind(name)
  local reason = tools.why_disabled(name, chat)
  if reason then
    -- The adapter's tool of that name is off, and the configuration has none.
    local is_known = tools.is_configured(name)
    return "disabled: " .. (is_known and reason or "enabled"), nil, is_known and source or "provider"
  end
  local tool, message = tools.resolve(name, true)
  if not tool then
    return "faulty: " .. (message or ""):gsub('^tool "[^"]*": ', ""), nil, source
  end
  return nil, tool.description or tool.schema["function"].description, source
end

---@param chat lathe.Chat?
---@return string[]
local function all_names(chat)
  local names = tools.all_names()
  for _, name in ipairs(provider_tools.names(chat and chat.adapter)) do
    if not vim.list_contains(names, name) then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

---The lines of the list.
---@param chat lathe.Chat? whose tools are marked
---@return string[]
function M.lines(chat)
  local registry = chat and chat.tool_registry
  local rows, widest = {}, 0
  local names = all_names(chat)
  for _, name in ipairs(names) do
    local fault, about, source = look_up(chat, name)
    local is_offered = not fault and registry and registry.in_use[name] or false
    rows[#rows + 1] =
      { is_offered, name, source, fault or (is_offered and "offered" or "not offered"), one_line(about) }
    widest = math.max(widest, vim.fn.strdisplaywidth(name))
  end
  local groups = tools.groups()
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
    local group = tools.group(name) or {}
    local is_offered = registry and registry.groups[name]
    local about = one_line(group.description)
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
  return lines
end

return M
