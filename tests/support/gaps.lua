-- Measures how long the main loop is held: a timer that wants to run every millisecond, and how late it comes. Where the
-- kernel tells how long the thread has waited for a processor, that is left out: it says how busy the machine is.
-- luacheck: globals LatheGaps
local schedule = vim.uv.fs_open("/proc/thread-self/schedstat", "r", 0)

local function waited_ns()
  local text = schedule and vim.uv.fs_read(schedule, 64, 0) or ""
  return tonumber(text:match("^%d+ (%d+)")) or 0
end

local timer = assert(vim.uv.new_timer())
local gaps, last, waited = {}, vim.uv.hrtime(), waited_ns()

local function measure()
  local now, waited_now = vim.uv.hrtime(), waited_ns()
  gaps[#gaps + 1] = (now - last - (waited_now - waited)) / 1e6
  last, waited = now, waited_now
end

timer:start(1, 1, measure)
LatheGaps = {
  stop = function()
    timer:close()
    -- What held the loop until now has kept the timer from running.
    measure()
    return gaps
  end,
}
