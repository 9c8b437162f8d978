-- A stand-in for lazy.nvim's task runner: loads build.lua, resumes it as a coroutine on every tick of the loop, and keeps
-- what it yields. Its clock goes a second a tick, so that a build of minutes takes a moment.
-- luacheck: globals Lazy
Lazy = { log = {}, clock_ms = 0, done = false, error = nil, sleeps = 0, has_time_limit = false }

function Lazy.has(pattern)
  return vim.iter(Lazy.log):any(function(text)
    return text:find(pattern) ~= nil
  end)
end

local system = vim.system
vim.system = function(command, options, on_exit)
  Lazy.has_time_limit = Lazy.has_time_limit or options.timeout ~= nil
  return system(command, options, on_exit)
end
vim.uv.now = function()
  return Lazy.clock_ms
end

---@param path string
---@param with_sleep boolean whether this lazy.nvim offers its coroutines a sleep
function Lazy.start(path, with_sleep)
  Lazy.log, Lazy.done, Lazy.error = {}, false, nil
  local thread = coroutine.create(assert(loadfile(path)))
  local suspended = false
  package.loaded["lazy.async"] = with_sleep
      and {
        running = function()
          return coroutine.running() == thread
        end,
        sleep = function(ms)
          suspended = true
          Lazy.sleeps = Lazy.sleeps + 1
          vim.defer_fn(function()
            suspended = false
          end, ms / 100)
          coroutine.yield()
        end,
      }
    or nil
  local timer = assert(vim.uv.new_timer())
  timer:start(
    1,
    1,
    vim.schedule_wrap(function()
      if Lazy.done then
        return
      end
      Lazy.clock_ms = Lazy.clock_ms + 1000
      if suspended then
        return
      end
      local ok, yielded = coroutine.resume(thread)
      if not ok then
        Lazy.error = yielded
      elseif yielded then
        table.insert(Lazy.log, type(yielded) == "table" and yielded.msg or yielded)
      end
      Lazy.done = coroutine.status(thread) == "dead"
      if Lazy.done then
        timer:close()
      end
    end)
  )
end
