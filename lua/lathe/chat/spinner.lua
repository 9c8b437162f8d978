-- What moves in a chat while something runs: spinner, clocks, the last line of a command. All of it is virtual text.
local M = {}

local api = vim.api
local now = vim.uv.now

local block = require("lathe.chat.block")

local ns_heading = api.nvim_create_namespace("lathe.heading")
local ns_range = api.nvim_create_namespace("lathe.range")
local ns_spin = api.nvim_create_namespace("lathe.spin")

---Draws it anew, with the clocks and last lines of what runs.
---@param self lathe.Render
function M.draw(self)
  local bufnr = self.bufnr
  api.nvim_buf_clear_namespace(bufnr, ns_spin, 0, -1)
  local frame = block.frame(now(), self.icons)
  for call_block in pairs(self.live) do
    local fact = block.running_fact(call_block, now(), self.skip_key)
    local row = api.nvim_buf_get_extmark_by_id(bufnr, ns_range, call_block.range, {})[1]
    if row and fact then
      api.nvim_buf_set_extmark(bufnr, ns_spin, row, 0, {
        virt_text = { { frame, "LatheRunning" } },
        virt_text_pos = "overlay",
      })
      local virt_text = { { fact, "LatheFact" } }
      local line = call_block.last_line and call_block.last_line()
      local virt_lines = line and line ~= "" and { { { "  " .. line, "LatheFact" } } } or nil
      api.nvim_buf_set_extmark(bufnr, ns_spin, row, 0, {
        virt_text = virt_text,
        virt_text_pos = "eol_right_align",
        virt_lines = virt_lines,
      })
    end
  end
  if self.waiting_since and self.last_heading then
    local row = api.nvim_buf_get_extmark_by_id(bufnr, ns_heading, self.last_heading, {})[1]
    if row then
      local text = frame .. " " .. block.clock(now() - self.waiting_since)
      api.nvim_buf_set_extmark(bufnr, ns_spin, row, 0, { virt_text = { { text, "LatheFact" } } })
    end
  end
end

return M
