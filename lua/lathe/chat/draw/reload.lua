-- A chat's buffer that is read anew (`:edit`): what it held is put back. These functions are methods of `lathe.Render`.
---@class lathe.Render
local Reread = {}

local buffer_lines = require("lathe.chat.draw.buffer_lines")
local folds = require("lathe.chat.draw.folds")
local input_hints = require("lathe.chat.draw.input_hints")

local api = vim.api

-- What the marks of these say is put back with them.
-- stylua: ignore
local kept = {
  "end_row", "end_col", "hl_group", "virt_text", "virt_text_pos", "right_gravity", "end_right_gravity",
}
local namespaces = {}
for _, name in ipairs({ "heading", "answer", "range", "look", "question", "mention" }) do
  namespaces[#namespaces + 1] = api.nvim_create_namespace("lathe." .. name)
end

---@class lathe.Snapshot
---@field lines string[]
---@field input_row integer
---@field marks table<integer, vim.api.keyset.get_extmark_item[]> by namespace

---What the buffer holds, before it is unloaded.
---@return lathe.Snapshot
function Reread:snapshot()
  local marks = {}
  for _, ns in ipairs(namespaces) do
    marks[ns] = api.nvim_buf_get_extmarks(self.bufnr, ns, 0, -1, { details = true })
  end
  local lines = api.nvim_buf_get_lines(self.bufnr, 0, -1, false)
  return { lines = lines, input_row = self:input_row(), marks = marks }
end

---Puts it back into a buffer that was read anew.
---@param snapshot lathe.Snapshot
function Reread:restore(snapshot)
  local bufnr = self.bufnr
  -- Marks outlive the text, but not where they were. First: Neovim 0.11 aborts when lines push many such marks along.
  api.nvim_buf_clear_namespace(bufnr, -1, 0, -1)
  buffer_lines.write(self, function()
    api.nvim_buf_set_lines(bufnr, 0, -1, false, snapshot.lines)
  end)
  local last_row = #snapshot.lines - 1
  for ns, marks in pairs(snapshot.marks) do
    for _, mark in ipairs(marks) do
      local opts = { id = mark[1], strict = false }
      for _, name in ipairs(kept) do
        opts[name] = mark[4][name]
      end
      if mark[2] <= last_row then
        api.nvim_buf_set_extmark(bufnr, ns, mark[2], mark[3], opts)
      end
    end
  end
  self:place_input(math.min(snapshot.input_row, last_row))
  input_hints.attach(self)
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    folds.fill(self, win)
  end
  for live in pairs(self.live) do -- it may have changed meanwhile
    self:change_call(live)
  end
end

return Reread
