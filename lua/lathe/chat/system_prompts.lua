-- The system messages of a request: the chat's own prompt, that of the tool system, those of tools and groups in use.
-- Made for each request, so that they fit what is offered with it; they are no part of the history.
local M = {}

local config = require("lathe.config")
local notify = require("lathe.notify")
local readable = require("lathe.readable").text

---What prompt functions are told.
---@param chat lathe.Chat
---@return lathe.PromptContext
local function context(chat)
  local names = {}
  if chat.tool_registry then
    for i, one in ipairs(chat.tool_registry:usable()) do
      names[i] = one.name
    end
  end
  return {
    chat = chat,
    adapter = chat.adapter,
    tools = names,
    cwd = chat.cwd,
    project_root = vim.fs.root(chat.cwd, ".git") or chat.cwd,
    date = os.date("%Y-%m-%d"),
    os = vim.uv.os_uname().sysname,
    nvim_version = tostring(vim.version()),
    language = "English",
  }
end

---The same with itself in a field, where functions that were written for others look for it.
---@param ctx lathe.PromptContext
---@return lathe.PromptContext
local function with_ctx(ctx)
  return vim.tbl_extend("force", {}, ctx, { ctx = ctx })
end

---The text of a prompt. One that fails is told once in a chat.
---@param chat lathe.Chat
---@param whose string
---@param prompt any
---@param ... any what it gets when it is a function
---@return string? text
local function text_of(chat, whose, prompt, ...)
  if type(prompt) == "function" then
    local ok, text = pcall(prompt, ...)
    if not ok then
      local told = chat.told_prompts or {}
      chat.told_prompts = told
      if not told[whose] then
        told[whose] = true
        notify.error(("%s failed: %s"):format(whose, readable(text)))
      end
      return nil
    end
    prompt = text
  end
  return type(prompt) == "string" and prompt:find("%S") and prompt or nil
end

---The chat's own prompt; its function is called once.
---@param chat lathe.Chat
---@return string?
function M.main(chat)
  local given = config.get().interactions.chat.system_prompt
  return text_of(chat, "interactions.chat.system_prompt", given, context(chat))
end

---The tools and groups in the order in which they joined the chat's prompts: what is added in mid-chat comes at the end,
---so that what the provider keeps of the prompts before it stays good. The order is saved with the chat.
---@param chat lathe.Chat
---@param usable { name: string, found: lathe.FoundTool }[]
---@param groups table[]
---@return string[] keys
local function in_order(chat, usable, groups)
  local is_there, order, known = {}, {}, chat.prompt_order or {}
  local now = {}
  for i, one in ipairs(usable) do
    now[i] = "tool " .. one.name
  end
  for _, group in ipairs(groups) do
    now[#now + 1] = "group " .. group.name
  end
  for _, key in ipairs(now) do
    is_there[key] = true
  end
  for _, key in ipairs(known) do
    if is_there[key] then
      order[#order + 1] = key
      is_there[key] = nil
    end
  end
  for _, key in ipairs(now) do
    if is_there[key] then
      order[#order + 1] = key
    end
  end
  if not vim.deep_equal(order, known) then
    chat.prompt_order = order
    chat.noted_changes = nil
  end
  return order
end

---All of them for the next request.
---@param chat lathe.Chat
---@return string[]
function M.prompts(chat)
  local registry = chat.tool_registry
  local groups = registry:used_groups()
  local without_main, without_general = false, false
  for _, group in ipairs(groups) do
    without_main = without_main or group.opts.ignore_system_prompt == true
    without_general = without_general or group.opts.ignore_tool_system_prompt == true
  end
  local settings = chat.config.tools.opts.system_prompt
  local ctx = context(chat)
  local general
  if ctx.tools[1] and settings.enabled and not without_general then
    general = text_of(chat, "interactions.chat.tools.opts.system_prompt.prompt", settings.prompt, with_ctx(ctx))
  end
  local list = {}
  if not without_main and not (general and settings.replace_main_system_prompt) then
    list[1] = chat.system_prompt
  end
  list[#list + 1] = general
  local usable = registry:usable()
  local texts = {} ---@type table<string, string?>
  for _, one in ipairs(usable) do
    local own = one.found.provider or one.found.tool --[[@as table]]
    local whose = ('the system_prompt of the tool "%s"'):format(one.name)
    texts["tool " .. one.name] = text_of(chat, whose, own.system_prompt, registry.schemas[one.name])
  end
  for _, group in ipairs(groups) do
    local whose = ('the system_prompt of the group "%s"'):format(group.name)
    texts["group " .. group.name] = text_of(chat, whose, group.system_prompt, group, ctx)
  end
  for _, key in ipairs(in_order(chat, usable, groups)) do
    list[#list + 1] = texts[key]
  end
  return list
end

return M
