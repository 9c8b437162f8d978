-- Saved chats: choosing one and going on with it. What is written and read of a chat is the library's business.
local M = {}

local adapters = require("lathe.adapters")
local chats = require("lathe.chat")
local config = require("lathe.config")
local core = require("lathe.core")
local notify = require("lathe.notify")
local readable = require("lathe.readable").text
local saving = require("lathe.chat.saving")

---How long ago something was.
---@param seconds number
---@return string such as "2 hours ago"
local function ago(seconds)
  for _, unit in ipairs({ { 86400, "day" }, { 3600, "hour" }, { 60, "minute" } }) do
    local count = math.floor(seconds / unit[1])
    if count >= 1 then
      return ("%d %s%s ago"):format(count, unit[2], count == 1 and "" or "s")
    end
  end
  return "just now"
end

---@class (exact) lathe.SavedChat
---@field id string
---@field title string
---@field cwd string the folder that it belongs to
---@field modified integer seconds since 1970

---@param entry lathe.SavedChat
---@return string
local function describe(entry)
  local folder = vim.fs.basename(entry.cwd):gsub("%c", "?")
  local here = chats.saved_as(entry.id) and " (open)" or ""
  local parts = { ago(os.time() - entry.modified), folder ~= "" and folder or entry.cwd, entry.title }
  return table.concat(parts, " · ") .. here
end

---Whether a text can be the path of a chat's folder. A file may have been made by hand.
---@param text string
---@return boolean
local function is_path(text)
  return vim.startswith(text, "/") and not text:find("%z")
end

---@param text string
---@return string
local function shown(text)
  text = text:gsub("%c", "?")
  return #text > 200 and vim.fn.strcharpart(text, 0, 100) .. "…" or text
end

---The adapter of a saved chat: its own when there still is one, else the configured one.
---@param loaded lathe.LoadedChat
---@return string|table|function|nil adapter
---@return string? model
---@return string? message
local function adapter_of(loaded)
  local default = config.get().interactions.chat.adapter
  local usual = adapters.resolve(default)
  if not loaded.adapter or (usual and usual.name == loaded.adapter) then
    return default, loaded.model
  end
  local own, message = adapters.resolve(shown(loaded.adapter))
  if own then
    return loaded.adapter, loaded.model
  end
  return default, nil, ("%s; the chat goes on with %s"):format(message, usual and usual.name or "none")
end

local copied = {
  busy = "this chat is open in another Neovim: you go on with a copy of it",
  read_only = "the file of this chat cannot be written to: you go on with a copy of it",
  elsewhere = "this file is not one of the saved chats: you go on with a copy of it",
}

---@param loaded lathe.LoadedChat
---@return lathe.Chat?
local function restore(loaded)
  local cwd = vim.fn.getcwd()
  if loaded.copied ~= "elsewhere" and loaded.cwd ~= "" then
    local stat = is_path(loaded.cwd) and vim.uv.fs_stat(loaded.cwd)
    if stat and stat.type == "directory" then
      cwd = loaded.cwd
    else
      local what = is_path(loaded.cwd) and "is gone" or "is no path"
      notify.warn(("the chat's folder %s %s: its tools work in %s"):format(shown(loaded.cwd), what, cwd))
    end
  end
  local adapter, model, message = adapter_of(loaded)
  for _, text in ipairs({ copied[loaded.copied] or false, message or false }) do
    if text then
      notify.warn(text)
    end
  end
  return (chats.create({ adapter = adapter, model = model }, { loaded = loaded, cwd = cwd }))
end

---Goes on with a saved chat; one that is open here is shown.
---@param wanted string its id, or the path of a file
function M.open(wanted)
  if wanted == "" or wanted:find("%z") then
    return notify.error(("there is no saved chat %q"):format(shown(wanted)))
  end
  local names_path = wanted:find("/", 1, true) or wanted:find("^~")
  local path = names_path and vim.fn.fnamemodify(wanted, ":p")
  local id = vim.fs.basename(wanted):gsub("%.jsonl$", "")
  local is_ours = not path or vim.uv.fs_realpath(vim.fs.dirname(path)) == vim.uv.fs_realpath(saving.folder())
  local open = is_ours and chats.saved_as(id)
  if open then
    return open:open()
  end
  if not chats.need() then
    return
  end
  core.ask(
    "load_chat",
    { chat = path or id },
    vim.schedule_wrap(function(loaded, message)
      if not loaded then
        return notify.error(message)
      end
      local ok, err = pcall(restore, loaded)
      if not ok then
        notify.error("the chat could not be gone on with: " .. readable(err))
      end
    end)
  )
end

---Lets the user choose one of the saved chats.
function M.choose()
  if not chats.need() then
    return
  end
  core.ask(
    "list_chats",
    nil,
    -- Later: `vim.ui.select` may wait for the user.
    vim.schedule_wrap(function(list, message)
      if not list then
        return notify.error(message)
      elseif not list[1] then
        local off = not config.get().interactions.chat.save and "; interactions.chat.save is off" or ""
        return notify.info("no chat is saved" .. off)
      end
      vim.ui.select(list, { prompt = "Resume a chat", kind = "lathe_chat", format_item = describe }, function(entry)
        if entry then
          M.open(entry.id)
        end
      end)
    end)
  )
end

---Ids of the files there are, newest first, for completion.
---@return string[]
function M.ids()
  local ids = {}
  for name in vim.fs.dir(saving.folder()) do
    ids[#ids + 1] = name:match("^(.*)%.jsonl$")
  end
  table.sort(ids, function(one, other)
    return one > other
  end)
  return ids
end

return M
