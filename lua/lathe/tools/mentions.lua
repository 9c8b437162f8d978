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

---The mention that begins at an `@`.
---@param text string
---@param from integer
---@param knows fun(name: string): boolean
---@return integer? to where it ends; nil: there is none
---@return string name
---@return boolean known
local function mention_at(text, from, knows)
  local _, to, name = text:find("^@{([^{}\n]+)}", from)
  if name then
    return to, name, knows(name)
  end
  if from > 1 and (text:find("^[@/%.%-]", from - 1) or is_letter(text, from - 1)) then
    return nil, "", false
  end
  _, to, name = text:find("^@([%w_][%w_%-]*)", from)
  if not name or not knows(name) or text:find("^[/@]", to + 1) or is_letter(text, to + 1) then
    return nil, "", false
  end
  return to, name, true
end

---Where a line mentions something that is known: a tool, a group, or what `#{…}` stands for.
---@param line string
---@param knows fun(name: string): boolean whether there is such a tool or group
---@return { [1]: integer, [2]: integer }[] spans first and last byte
function M.spans(line, knows)
  local spans, at = {}, 1
  while true do
    local from = line:find("[@#]", at)
    if not from then
      return spans
    end
    local _, to = line:find("^#{[^{}]+}", from)
    local known = true
    if line:byte(from) == 64 then
      to, _, known = mention_at(line, from, knows)
    end
    if to and known then
      spans[#spans + 1] = { from, to }
    end
    at = (to or from) + 1
  end
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
    local to, name, known = mention_at(text, from, knows)
    if to and not known then
      unknown[#unknown + 1] = name
    end
    if to and known then
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
