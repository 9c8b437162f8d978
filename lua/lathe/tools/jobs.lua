-- Jobs that tools register: whatever has a method `kill` ends with its call.
local M = {}

local log = require("lathe.log")
local readable = require("lathe.readable").text

-- How long a registered job may take to end by itself after SIGTERM.
local KILL_AFTER_MS = 1000

---@param job any
---@return boolean
local function is_job(job)
  local ok, kill = pcall(function()
    return job.kill
  end)
  return ok and kill ~= nil
end

---@param call lathe.Call
---@param job any
local function kill(call, job)
  local ok, err = pcall(job.kill, job, 15)
  if not ok then
    log.warn(('tool "%s": a job could not be ended: %s'):format(call.name, readable(err)))
  end
  local timer = vim.uv.new_timer()
  if timer then
    timer:start(KILL_AFTER_MS, 0, function()
      timer:close()
      pcall(function()
        if job.is_closing and not job:is_closing() then
          job:kill(9)
        end
      end)
    end)
  end
end

---Keeps a job so that it ends with its call; one of a call that is over ends at once.
---@param call lathe.Call
---@param job any with a method `kill`
function M.register(call, job)
  if not is_job(job) then
    error("register_job: expected a job with a method kill, got " .. readable(job), 3)
  end
  if call.killed or call.finished then
    return kill(call, job)
  end
  local jobs = call.jobs or {}
  call.jobs = jobs
  jobs[#jobs + 1] = job
end

---Ends the jobs that the call registered, and those it will register.
---@param call lathe.Call
function M.kill_all(call)
  call.killed = true
  local jobs = call.jobs
  call.jobs = nil
  for _, job in ipairs(jobs or {}) do
    kill(call, job)
  end
end

return M
