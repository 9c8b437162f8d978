-- Mentions of tools and groups in a message. What offers them to the model is `chat/prompt.lua`.
local M = {}

local config = require("lathe.config")
local tools = require("lathe.tools")

---What the model reads in place of a mention. Words of it that the text already has around the mention are left out:
---"the @{x} tool" becomes "the x tool".
---@param before string
---@param name string
---@param text string
---@param to integer where the mention ends in it
---@return string before
---@return string replacement
local function replacement(before, name, text, to)
  local template = config.get().interactions.chat.tools.opts.tool_replacement_message
  local group = tools.group(name)
  if group and type(group.prompt) == "string" then
    template = group.prompt
  end
  local names = group and table.concat(group.tools or {}, ", ") or name
  local first, last = template:find("${tool}", 1, true)
  if not first then
    first, last = template:find("${tools}", 1, true)
  end
  if not first then
    return before, template
  end
  local head, tail = template:sub(1, first - 1), template:sub(last + 1)
  if head ~= "" and before:sub(-#head):lower() == head:lower() then
    head = ""
  end
  if tail ~= "" and text:sub(to + 1, to + #tail) == tail then
    tail = ""
  end
  return before, head .. names .. tail
end

---Whether a letter or digit ends or begins at a byte: then what is beside it is not a whole word.
---@param text string
---@param at integer
---@return boolean
local function is_letter(text, at)
  local byte = text:byte(at)
  if not byte or byte < 128 then
    return byte ~= nil and text:find("^[%w_]", at) ~= nil
  end
  local char = text:sub(at + vim.str_utf_start(text, at), at + vim.str_utf_end(text, at))
  return vim.fn.charclass(char) == 2
end

---Replaces the mentions of tools and groups in a message: `@{name}` anywhere, `@name` as a whole word.
---@param text string
---@param knows? fun(name: string): boolean whether there is such a tool or group; default: one of the configuration
---@return string text for the model
---@return string[] names what was mentioned, in order
---@return string[] unknown names in braces that nothing is known by
function M.replace(text, knows)
  knows = knows or tools.is_known
  local names, unknown = {}, {}
  local parts = {}
  local at = 1
  while true do
    local from = text:find("@", at, true)
    if not from then
      break
    end
    local _, to, name = text:find("^@{([^{}\n]+)}", from)
    if name then
      if not knows(name) then
        unknown[#unknown + 1] = name
        name = nil
      end
    elseif from == 1 or not (text:find("^[@/%.%-]", from - 1) or is_letter(text, from - 1)) then
      _, to, name = text:find("^@([%w_][%w_%-]*)", from)
      if name and (not knows(name) or text:find("^[/@]", to + 1) or is_letter(text, to + 1)) then
        name = nil
      end
    end
    if name then
      names[#names + 1] = name
      local before, middle = replacement(text:sub(at, from - 1), name, text, to)
      parts[#parts + 1] = before .. middle
      at = to + 1
    else
      parts[#parts + 1] = text:sub(at, from)
      at = from + 1
    end
  end
  parts[#parts + 1] = text:sub(at)
  return table.concat(parts), names, unknown
end

return M
