-- A fault: what went wrong, as an object that knows whether the user has been told of it. `notify.fault` tells it,
-- once.
local M = {}

---@class lathe.Fault
---@field message string
---@field told boolean? the user knows
---@field names_provider boolean? its message says by itself whose fault it is

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

---A fault of a provider's adapter, whose message names the provider.
---@param message string
---@return lathe.Fault
function M.of_provider(message)
  local fault = M.new(message)
  fault.names_provider = true
  return fault
end

return M
