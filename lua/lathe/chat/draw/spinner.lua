-- What moves in a chat while something runs: spinner, clocks, the last line of a command. All of it is virtual text.
-- These functions are methods of `lathe.Render`.
---@class lathe.Render
local Spinner = {}

local api = vim.api
local now = vim.uv.now

local autoscroll = require("lathe.chat.draw.autoscroll")
local block = require("lathe.chat.draw.block")
local input_hints = require("lathe.chat.draw.input_hints")
local reasoning = require("lathe.chat.draw.reasoning")
local write_rate = require("lathe.chat.draw.write_rate")

local SPIN_EVERY_MS = 100

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
local function draw_all(self)
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

---Starts or ends the spinner as needed.
function Spinner:spin()
  local wanted = self:is_alive() and (self.waiting_since or next(self.live)) ~= nil
  write_rate.watch(self, wanted)
  if wanted and not self.spin_timer then
    self.spin_timer = assert(vim.uv.new_timer())
    self.spin_timer:start(
      SPIN_EVERY_MS,
      SPIN_EVERY_MS,
      vim.schedule_wrap(function()
        local is_due = now() - (self.spun_ms or 0) >= write_rate.SELDOM_MS or not write_rate.is_elsewhere(self.bufnr)
        if is_due and self.spin_timer and self:is_alive() then
          self.spun_ms = now()
          draw_all(self)
        end
      end)
    )
  elseif wanted then
    draw_all(self) -- what it was drawn beside may be elsewhere now
  elseif self.spin_timer then
    self.spin_timer:close()
    self.spin_timer = nil
    if self:is_alive() then
      api.nvim_buf_clear_namespace(self.bufnr, ns_spin, 0, -1)
    end
  end
end

---The model is being waited for, or no longer.
---@param waiting boolean
function Spinner:wait(waiting)
  self.waiting_since = waiting and now() or nil
  if not waiting then
    reasoning.finish(self)
    self:touch() -- the spinner ends with the next write
  end
  if waiting or #self.queue == 0 then
    self:spin()
  end
end

return Spinner
