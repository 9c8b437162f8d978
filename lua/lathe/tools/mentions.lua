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
  local members = group and group.tools or { name }
  local names = table.concat(members, ", ")
  local first, last = template:find("${tool}", 1, true)
  local is_plural = false
  if not first then
    first, last = template:find("${tools}", 1, true)
    is_plural = true
  end
  if not first then
    return before, template
  end
  local head, tail = template:sub(1, first - 1), template:sub(last + 1)
  if is_plural and not tail:find("^ tools?%f[%W]") then
    names = names .. (members[2] and " tools" or " tool")
  end
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

---Whether a backslash makes a sign plain text.
---@param text string
---@param at integer
---@return boolean
local function is_escaped(text, at)
  return text:byte(at - 1) == 92
end

---Whether an `@` would be a mention when something has the name behind it, and no backslash were before it.
---@param text string
---@param from integer
---@return boolean
local function could_mention(text, from)
  if text:find("^@{[^{}\n]+}", from) then
    return true
  end
  local first = from
  while is_escaped(text, first) do
    first = first - 1
  end
  return text:find("^@[%w_]", from) ~= nil and M.begins_word(text, first)
end

---The mention that begins at an `@`.
---@param text string
---@param from integer
---@param knows fun(name: string): boolean|string a text: what goes by that name
---@return integer? to where it ends; nil: there is none
---@return string name
---@return boolean|string known
local function mention_at(text, from, knows)
  if is_escaped(text, from) then
    return nil, "", false
  end
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
---@param knows fun(name: string): boolean|string whether there is such a tool or group
---@return { [1]: integer, [2]: integer }[] spans first and last byte
function M.spans(line, knows)
  local spans, at = {}, 1
  while true do
    local from = line:find("[@#]", at)
    if not from then
      return spans
    end
    local _, to = line:find("^#{[^{}]+}", from)
    local known = not is_escaped(line, from)
    if line:byte(from) == 64 then
      to, _, known = mention_at(line, from, knows)
    end
    if to and known then
      spans[#spans + 1] = { from, to }
    end
    at = (to or from) + 1
  end
end

---The lines of a message, with the fence of the code that they are in or begin or end.
---@param text string
---@return fun(): integer?, string?, string? next byte where a line begins, the line, the fence
local function fenced_lines(text)
  local at, fence = 1, nil
  return function()
    if at > #text + 1 then
      return nil
    end
    local from, to = at, (text:find("\n", at, true) or #text + 1) - 1
    local line = text:sub(from, to)
    at = to + 2
    local marker = line:match("^ ? ? ?(```+)[^`]*$") or line:match("^ ? ? ?(~~~+)")
    local open = fence or marker
    if not fence then
      fence = marker
    elseif marker and vim.startswith(marker, fence) and not line:find("[^`~%s]") then
      fence = nil
    end
    return from, line, open
  end
end

---The lines of a message that are not fenced code, where a language has signs of its own.
---@param text string
---@return fun(): integer?, string? next byte where a line begins, and the line
function M.prose(text)
  local next_line = fenced_lines(text)
  return function()
    local from, line, fence = next_line()
    while fence do
      from, line, fence = next_line()
    end
    return from, line
  end
end

---The fence of code that is open at the end of a text.
---@param text string
---@return string?
function M.open_fence(text)
  local next_line = fenced_lines(text .. "\n")
  local from, _, fence = next_line()
  local open
  while from do
    open = fence
    from, _, fence = next_line()
  end
  return open
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

---The `#{…}` on a line outside of code spans, with the text before each.
---@param line string
---@param visit fun(from: integer, is_escaped: boolean): integer? gets where one begins, gives where it ends when it is one
function M.hashes(line, visit)
  local at = 1
  while true do
    local from = line:find("[`#]", at)
    if not from then
      return
    end
    local ticks = line:match("^`+", from)
    if ticks then
      at = from + #ticks
      local _, close = line:find("[^`]" .. ticks .. "%f[^`]", at)
      at = close and close + 1 or at
    else
      at = (visit(from, is_escaped(line, from)) or from) + 1
    end
  end
end

---Makes a text plain that goes into a chat's input: a backslash before each sign that would be a mention there.
---@param text string
---@param is_reference fun(line: string, from: integer): boolean whether a `#` would be one
---@return string
function M.plain(text, is_reference)
  local found = {} ---@type integer[]
  for first, line in M.prose(text) do
    for from in line:gmatch("()@") do
      if could_mention(line, from) then
        found[#found + 1] = first + from - 1
      end
    end
    M.hashes(line, function(from)
      if is_reference(line, from) then
        found[#found + 1] = first + from - 1
      end
    end)
  end
  table.sort(found)
  local parts, at = {}, 1
  for _, from in ipairs(found) do
    parts[#parts + 1] = text:sub(at, from - 1) .. "\\"
    at = from
  end
  return table.concat(parts) .. text:sub(at)
end

---Replaces the mentions of tools and groups in a message: `@{name}` anywhere, `@name` as a whole word; but in fenced
---code, and behind a backslash, which goes.
---@param text string
---@param knows? fun(name: string): boolean|string whether there is such a tool or group, or what it is really called;
---  default: one of the configuration
---@return string text for the model
---@return string[] names what was mentioned, in order
---@return string[] unknown names in braces that nothing is known by
function M.replace(text, knows)
  knows = knows or tools.is_known
  local names, unknown = {}, {}
  local parts = {}
  local at = 1
  for from in signs(text) do
    if is_escaped(text, from) and from > at and could_mention(text, from) then
      parts[#parts + 1] = text:sub(at, from - 2)
      at = from
    end
    local to, name, known = mention_at(text, from, knows)
    if to and not known then
      unknown[#unknown + 1] = name
    end
    if to and known and from >= at then
      name = type(known) == "string" and known or name
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
