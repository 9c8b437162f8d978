-- What Google's models take, for the adapters that reach them.
local M = {}

---Whether the chat's model thinks; one that does not refuses to tell its thoughts. A name without a version is that of a
---new model.
---@param self lathe.Adapter
---@return boolean
function M.thinks(self)
  local model = self.model or vim.tbl_get(self, "schema", "model", "default")
  model = type(model) == "string" and model:gsub("^.*/", "") or ""
  if model:find("^gemma") or model:find("^learnlm") then
    return false
  end
  local major, minor = model:match("^gemini%-(%d+)%.?(%d*)")
  local version = (tonumber(major) or math.huge) + (tonumber(minor) or 0) / 10
  return version >= 2.5
end

---An answer in one piece has an address of its own.
---@param self lathe.Adapter
function M.set_up(self)
  if self.opts and self.opts.stream == false and type(self.url) == "string" then
    self.url = self.url:gsub(":streamGenerateContent%?alt=sse$", ":generateContent")
  end
end

return M
