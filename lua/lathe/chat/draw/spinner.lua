-- What moves in a chat while something runs: spinner, clocks, the last line of a command. All of it is virtual text.
local M = {}

local api = vim.api
local now = vim.uv.now

local block = require("lathe.chat.draw.block")
local autoscroll = require("lathe.chat.draw.autoscroll")
local input_hints = require("lathe.chat.draw.input_hints")

local ns_range = api.nvim_create_namespace("lathe.range")
local ns_spin = api.nvim_create_namespace("lathe.spin")

---@param bufnr integer
---@param row integer
---@param text string
---@param place "overlay"|"eol"|"eol_right_align"
---@param group string
---@param below string? a line below it
local function draw(bufnr, row, text, place, group, below)
  api.nvim_buf_set_extmark(bufnr, ns_spin, row, 0, {
    virt_text = { { text, group } },
    virt_text_pos = place,
    virt_lines = below and below ~= "" and { { { "  " .. below, "LatheFact" } } } or nil,
  })
end

---Draws it anew, with the clocks and last lines of what runs.
---@param self lathe.Render
function M.draw(self)
  local bufnr, time_ms = self.bufnr, now()
  local width = input_hints.width(bufnr)
  if not width then
    return
  end
  -- Lines that come or go must not move the end out of sight.
  local followers = autoscroll.followers(bufnr, self:input_row())
  local n_below = 0
  api.nvim_buf_clear_namespace(bufnr, ns_spin, 0, -1)
  local frame = block.frame(time_ms, self.icons)
  local is_moving = false
  for live in pairs(self.live) do
    local runs = live.state == "running"
    local fact = live.live_fact and live.live_fact(time_ms) or block.running_fact(live, time_ms, self.key("skip"))
    local row = fact and api.nvim_buf_get_extmark_by_id(bufnr, ns_range, live.range, {})[1]
    if row then
      is_moving = true
      if runs then
        draw(bufnr, row, frame, "overlay", "LatheRunning")
      end
      local below = live.last_line and live.last_line(width - 4)
      n_below = n_below + (below and below ~= "" and 1 or 0)
      if block.fits(live, fact, width) then
        draw(bufnr, row, fact, "eol_right_align", "LatheFact", below)
      else
        n_below = n_below + (below and below ~= "" and 0 or 1)
        draw(bufnr, row, "", "eol", "LatheFact", fact)
      end
    end
  end
  local row = self:input_row() - 1
  if self.waiting_since and not is_moving and row >= 0 then
    local clock, stop = block.clock(time_ms - self.waiting_since), self.key("stop")
    -- On the empty line above the input: nothing moves when it comes and goes.
    draw(bufnr, row, frame, "overlay", "LatheRunning")
    draw(bufnr, row, "  " .. clock .. (stop and "  " .. stop .. " stop" or ""), "eol", "LatheFact")
  end
  if n_below ~= self.n_below then
    self.n_below = n_below
    autoscroll.follow(bufnr, followers)
  end
end

return M
