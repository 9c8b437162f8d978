-- Mentions of tools and groups in a message. What offers them to the model is `chat/input/user_message.lua`.
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

---Whether a mention could begin at a byte: it is not part of a word, a path or an address.
---@param text string
---@param at integer
---@return boolean
function M.begins_word(text, at)
  return at == 1 or not (text:find("^[@#/%.%-]", at - 1) or is_letter(text, at - 1))
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
  if not M.begins_word(text, from) then
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

---The lines of a message that are not fenced code, where a language has signs of its own.
---@param text string
---@return fun(): integer?, string? next byte where a line begins, and the line
function M.prose(text)
  local at, fence = 1, nil
  return function()
    while at <= #text + 1 do
      local from, to = at, (text:find("\n", at, true) or #text + 1) - 1
      local line = text:sub(from, to)
      at = to + 2
      local marker = line:match("^ ? ? ?(```+)[^`]*$") or line:match("^ ? ? ?(~~~+)")
      if not fence and not marker then
        return from, line
      elseif not fence then
        fence = marker
      elseif marker and vim.startswith(marker, fence) and not line:find("[^`~%s]") then
        fence = nil
      end
    end
  end
end

---Where mentions can be in a message.
---@param text string
---@return fun(): integer? next byte of an `@`
local function signs(text)
  local next_line = M.prose(text)
  local first, line = next_line()
  local at = 1
  return function()
    while first do
      local from = line:find("@", at, true)
      if from then
        at = from + 1
        return first + from - 1
      end
      at, first, line = 1, next_line()
    end
  end
end

---Replaces the mentions of tools and groups in a message: `@{name}` anywhere, `@name` as a whole word; but in fenced
---code.
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
  for from in signs(text) do
    local to, name, known = mention_at(text, from, knows)
    if to and not known then
      unknown[#unknown + 1] = name
    end
    if to and known and from >= at then
      names[#names + 1] = name
      local before, middle = replacement(text:sub(at, from - 1), name, text, to)
      parts[#parts + 1] = before .. middle
      at = to + 1
    end
  end
  parts[#parts + 1] = text:sub(at)
  return table.concat(parts), names, unknown
end

return M
