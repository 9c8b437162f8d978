-- What a handler may give, and what becomes of it: items that were looked at, their text and their media.
local M = {}

local core = require("lathe.core")

---@class lathe.native.Outcome
---@field code string "OK", "ERROR" or another of `:help lathe-native-codes`
---@field items table[] as MCP has them; those of prompts are messages
---@field text string for the model
---@field media lathe.Media[]
---@field traceback string?

---@param value any
---@return string
function M.shown(value)
  return type(value) == "string" and value or vim.inspect(value)
end

---@param item any
---@return string? fault
local function item_fault(item)
  if type(item) ~= "table" then
    return "an item is no table, but " .. type(item)
  end
  local kind = item.type
  if kind == "text" then
    return type(item.text) ~= "string" and "a text item without text" or nil
  elseif kind == "image" or kind == "audio" then
    return type(item.data) ~= "string" and ("an %s item whose data is no string"):format(kind) or nil
  elseif kind == "blob" then
    return type(item.data) ~= "string" and "a blob item whose data is no string" or nil
  elseif kind == "resource" then
    local resource = item.resource
    if type(resource) ~= "table" or type(resource.uri) ~= "string" then
      return "a resource item without uri"
    end
    local has_any = type(resource.text) == "string" or type(resource.blob) == "string"
    return not has_any and "a resource item without text and blob" or nil
  end
  return "an item of unknown type " .. vim.inspect(kind)
end

---@param item table
---@param texts string[]
---@param media lathe.Media[]
local function read_item(item, texts, media)
  if item.type == "text" then
    texts[#texts + 1] = item.text
  elseif item.type == "resource" then
    local resource = item.resource
    if type(resource.text) == "string" then
      texts[#texts + 1] = ("Resource %s:\n%s"):format(resource.uri, resource.text)
    else
      media[#media + 1] = { kind = "blob", data = resource.blob, mime = M.mime(resource.mimeType), uri = resource.uri }
    end
  else
    media[#media + 1] = { kind = item.type, data = item.data, mime = M.mime(item.mimeType) }
  end
end

---@param mime any
---@return string?
function M.mime(mime)
  return type(mime) == "string" and mime ~= "" and mime or nil
end

---An outcome that is an error of ours, or the handler's.
---@param code string
---@param text string
---@param traceback string?
---@return lathe.native.Outcome
function M.error(code, text, traceback)
  return { code = code, items = { { type = "text", text = text } }, text = text, media = {}, traceback = traceback }
end

---Looks at the items of a tool's result.
---@param items table[]
---@param is_error boolean
---@param whose string the tool, for messages
---@return lathe.native.Outcome
function M.of_items(items, is_error, whose)
  local texts, media, good, notes = {}, {}, {}, {}
  for _, item in ipairs(items) do
    local fault = item_fault(item)
    if fault then
      notes[#notes + 1] = ("[left out: %s]"):format(fault)
    else
      good[#good + 1] = item
      read_item(item, texts, media)
    end
  end
  if not good[1] and notes[1] then
    return M.error("INVALID_RESULT", M.unusable(whose, table.concat(notes, " ")))
  end
  vim.list_extend(texts, notes)
  return { code = is_error and "ERROR" or "OK", items = good, text = table.concat(texts, "\n"), media = media }
end

---@param whose string
---@param what string
---@return string
function M.unusable(whose, what)
  return ("%s ran, but its result cannot be used: %s"):format(whose, what)
end

---The list in what a handler gave.
---@param value any not nil
---@return table[]? items
---@return boolean is_error
function M.items_of(value)
  if type(value) == "string" then
    return { { type = "text", text = value } }, false
  elseif type(value) ~= "table" then
    return nil, false
  end
  local inner = type(value.result) == "table" and value.result or value
  local items = inner.content or inner.contents or inner.messages
  if items == nil and inner == value and value[1] ~= nil and vim.islist(value) then
    items = value
  end
  if type(items) ~= "table" or not vim.islist(items) then
    return nil, false
  end
  return items, inner.isError == true or value.isError == true
end

---The outcome as callers of the API get it: media as base64.
---@param outcome lathe.native.Outcome
---@return table
function M.response(outcome)
  local content = {}
  for i, item in ipairs(outcome.items) do
    local is_media = item.type == "image" or item.type == "audio" or item.type == "blob"
    if is_media then
      local given = { kind = item.type, data = item.data, mime = M.mime(item.mimeType) }
      local media = core.lib.native_media(given)
      item = { type = item.type, data = media.data, mimeType = media.mime }
    end
    content[i] = item
  end
  return { result = { content = content, isError = outcome.code ~= "OK" } }
end

---The short form of a response (`parse_response`).
---@param response table
---@return table
function M.parse(response)
  local parsed = { text = "", images = {}, audios = {}, blobs = {}, resources = {}, is_error = response.result.isError }
  local texts = {}
  for _, item in ipairs(response.result.content) do
    if item.type == "text" then
      texts[#texts + 1] = item.text
    elseif item.type == "resource" then
      parsed.resources[#parsed.resources + 1] = item.resource
    else
      table.insert(parsed[item.type .. "s"], { data = item.data, mimeType = item.mimeType })
    end
  end
  parsed.text = table.concat(texts, "\n")
  return parsed
end

return M
