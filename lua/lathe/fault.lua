-- A fault: what went wrong, as an object that knows whether the user has been told of it. `notify.fault` tells it,
-- once.
local M = {}

---@class lathe.Fault
---@field message string
---@field told boolean? the user knows

local Fault = {}
Fault.__index = Fault

---@param self lathe.Fault
---@return string
function Fault.__tostring(self)
  return self.message
end

---@param message string
---@param told boolean?
---@return lathe.Fault
function M.new(message, told)
  return setmetatable({ message = message, told = told or false }, Fault)
end

return M
