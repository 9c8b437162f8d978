-- Another model or adapter for a chat that goes on. The history stays; each request puts it into the provider's form.
local M = {}

local adapters = require("lathe.adapters")
local events = require("lathe.events")
local notify = require("lathe.notify")
local saving = require("lathe.chat.saving")

---@param chat lathe.Chat
---@param adapter lathe.Adapter
local function tell(chat, adapter)
  local model = adapter.model or vim.tbl_get(adapter, "schema", "model", "default")
  local with = type(model) == "string" and (", model " .. model) or ""
  notify.info(("the chat goes on with %s%s"):format(adapter.formatted_name, with))
  chat.noted_adapter = nil -- a model alone changes nothing that can be seen of the table
  saving.note(chat)
end

---@param chat lathe.Chat
---@param model string
local function use_model(chat, model)
  if chat.is_closing or not chat.adapter then
    return
  end
  chat.wanted.model = model
  chat.adapter.model = model
  tell(chat, chat.adapter)
  events.note("model", chat)
end

---@param chat lathe.Chat
---@param name string
local function use_adapter(chat, name)
  local adapter, message = adapters.resolve(name)
  if not adapter then
    return notify.error(message --[[@as string]])
  elseif chat.is_closing then
    return
  end
  chat.wanted = { adapter = name }
  chat.adapter, chat.adapter_message = adapter, nil
  tell(chat, adapter)
  events.note("adapter", chat)
  local variable = adapters.missing_key(adapter)
  if variable then
    notify.warn(("the variable %s is not set"):format(variable))
  end
end

---Takes another model: the named one, or one that the user picks from the provider's list.
---@param chat lathe.Chat
---@param name string?
function M.model(chat, name)
  if not chat.adapter then
    chat:find_adapter()
  end
  local adapter = chat.adapter
  if not adapter then
    return notify.error(chat.adapter_message or "the chat has no adapter: `:Lathe adapter`")
  elseif name then
    return use_model(chat, name)
  end
  adapters.models(adapter, chat, function(names, message)
    if not names then
      return notify.error(("%s: %s"):format(adapter.formatted_name, message))
    end
    vim.ui.select(names, { prompt = ("Model of %s"):format(adapter.formatted_name) }, function(choice)
      -- The chat may have changed to another adapter meanwhile.
      if choice and chat.adapter == adapter then
        use_model(chat, choice)
      end
    end)
  end)
end

---Takes another adapter: the named one, or one that the user picks.
---@param chat lathe.Chat
---@param name string?
function M.adapter(chat, name)
  if name then
    return use_adapter(chat, name)
  end
  vim.ui.select(adapters.names(), { prompt = "Adapter" }, function(choice)
    if choice then
      use_adapter(chat, choice)
    end
  end)
end

return M
