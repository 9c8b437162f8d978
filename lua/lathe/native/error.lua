-- Errors of calls: a code, a text, and names that may have been meant.
local M = {}

local Error = {}
Error.__index = Error

---@return string
function Error:__tostring()
  return self.message
end

---@class lathe.native.Error
---@field code string as in `:help lathe-native-codes`
---@field message string
---@field traceback string?

---@param code string
---@param message string
---@param traceback string?
---@return lathe.native.Error
function M.new(code, message, traceback)
  return setmetatable({ code = code, message = message, traceback = traceback }, Error)
end

---Up to ten names, the nearest first.
---@param names string[]
---@param wanted string
---@return string text for the end of a sentence
function M.near(names, wanted)
  if not names[1] then
    return "there are none"
  end
  local list = vim.fn.matchfuzzy(names, wanted)
  for _, name in ipairs(names) do
    if #list < 10 and not vim.list_contains(list, name) then
      list[#list + 1] = name
    end
  end
  return "there are: " .. table.concat(vim.list_slice(list, 1, 10), ", ")
end

return M
