-- Which of OpenAI's models reason, by their names.
local M = {}

---@param adapter lathe.Adapter
---@return string
function M.model_of(adapter)
  local model = adapter.model or vim.tbl_get(adapter, "schema", "model", "default")
  return type(model) == "string" and model or ""
end

---Whether a model reasons: from the fifth generation on, and the o series.
---@param model string
---@return boolean
function M.is_one(model)
  local generation = tonumber(model:match("^gpt%-(%d+)"))
  return (generation ~= nil and generation >= 5) or model:find("^o%d") ~= nil or model:find("^codex") ~= nil
end

return M
