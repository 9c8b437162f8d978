-- Measures how long the main loop is held: a timer that wants to run every millisecond, and how late it comes.
-- luacheck: globals LatheGaps
local timer = assert(vim.uv.new_timer())
local gaps, last = {}, vim.uv.hrtime()
timer:start(1, 1, function()
  local now = vim.uv.hrtime()
  gaps[#gaps + 1] = (now - last) / 1e6
  last = now
end)
LatheGaps = {
  stop = function()
    timer:close()
    -- What held the loop until now has kept the timer from running.
    gaps[#gaps + 1] = (vim.uv.hrtime() - last) / 1e6
    return gaps
  end,
}
