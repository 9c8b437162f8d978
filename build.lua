-- build.lua: builds lua/lathe_core.so after an install or an update. lazy.nvim finds and runs it by itself, as a
-- coroutine: what it yields is shown as progress, and unlike a shell command it has no time limit.
-- Uses nothing of the plugin, since nothing of it is built yet.

local root = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, "S").source:sub(2)))

local FAILED = "lathe.nvim: the build failed"
local POLL_MS = 100
local MAX_TAIL = 40

---Raises the message as it is: a position in this file would tell the user nothing.
local function fail(message)
  error(message, 0)
end

---Names what is missing before anything is started. cargo may be installed without being on an editor's PATH.
---@return table<string, string> env environment of the build
local function check_tools()
  local path = vim.env.PATH or ""
  local cargo_bin = vim.fs.joinpath(vim.env.CARGO_HOME or vim.fs.joinpath(vim.env.HOME or "~", ".cargo"), "bin")
  if vim.fn.executable("cargo") == 0 and vim.fn.executable(vim.fs.joinpath(cargo_bin, "cargo")) == 1 then
    path = path .. ":" .. cargo_bin
  elseif vim.fn.executable("cargo") == 0 then
    fail(FAILED .. ": cargo was not found. Install Rust (https://rustup.rs) and run :Lazy build lathe.nvim")
  end
  for _, tool in ipairs({ "make", "cc" }) do
    if vim.fn.executable(tool) == 0 then
      fail(("%s: %s was not found. Install make and a C compiler and run :Lazy build lathe.nvim"):format(FAILED, tool))
    end
  end
  return {
    PATH = path,
    -- cargo draws "Building [==> ] 12/34: name" only for terminals unless it is told to; the counts come from there.
    CARGO_TERM_PROGRESS_WHEN = "always",
    CARGO_TERM_PROGRESS_WIDTH = "100",
    CARGO_TERM_COLOR = "never",
  }
end

---@class lathe.Build
---@field step string what is being built now
---@field tail string[] the last lines of output, without progress bars
---@field started_ms number
---@field code? integer exit code; nil while it runs

---@param build lathe.Build
---@param line string
local function read_line(build, line)
  local count, crates = line:match("^%s*Building %[.-%]%s*(%d+/%d+):?%s*(.-)%s*$")
  if count then
    build.step = ("Compiling %s (%s)"):format(crates ~= "" and crates or "…", count)
    return
  end
  line = vim.trim(line)
  if line ~= "" then
    table.insert(build.tail, line)
    if #build.tail > MAX_TAIL then
      table.remove(build.tail, 1)
    end
  end
end

---Splits a stream into lines; `\r` ends one too, since that is how a progress bar redraws itself.
---@param build lathe.Build
local function line_reader(build)
  local rest = ""
  return function(_, data)
    rest = rest .. (data or "\n")
    for line in rest:gmatch("([^\r\n]*)[\r\n]") do
      read_line(build, line)
    end
    rest = rest:match("[^\r\n]*$")
  end
end

---@return lathe.Build
local function start()
  local env = check_tools()
  local build = { step = "starting", tail = {}, started_ms = vim.uv.now() }
  local options = { cwd = root, env = env, stdout = line_reader(build), stderr = line_reader(build) }
  vim.system({ "make", "build" }, options, function(result)
    build.code = result.code ~= 0 and result.code or result.signal
  end)
  return build
end

---@param build lathe.Build
local function progress(build)
  return ("%s, %d s"):format(build.step, math.floor((vim.uv.now() - build.started_ms) / 1000))
end

---Raises what went wrong, with the last lines of output.
---@param build lathe.Build a build that has ended
local function finish(build)
  if build.code ~= 0 then
    fail(("%s (make build, exit code %d):\n%s"):format(FAILED, build.code, table.concat(build.tail, "\n")))
  end
  return ("lathe.nvim: built in %d s"):format(math.ceil((vim.uv.now() - build.started_ms) / 1000))
end

---Gives the editor its loop back for a moment. A bare yield is resumed at once, again and again, which takes a core
---away from the compiler: lazy.nvim's own sleep does not.
local function pause()
  local async = package.loaded["lazy.async"]
  if type(async) == "table" and async.running and async.sleep and async.running() then
    async.sleep(POLL_MS)
  else
    coroutine.yield()
  end
end

local function run_in_coroutine()
  local build = start()
  coroutine.yield({ msg = "lathe.nvim: make build, this takes some minutes", level = vim.log.levels.INFO })
  local shown = ""
  while not build.code do
    local text = progress(build)
    if text ~= shown then
      shown = text
      coroutine.yield({ msg = text, level = vim.log.levels.TRACE })
    end
    pause()
  end
  coroutine.yield({ msg = finish(build), level = vim.log.levels.INFO })
end

---For `:luafile build.lua`: in the background, with the outcome as a message.
local function run_in_background()
  local build = start()
  local timer = assert(vim.uv.new_timer())
  local function show()
    if timer:is_closing() then
      return
    end
    if not build.code then
      vim.api.nvim_echo({ { "lathe.nvim: " .. progress(build) } }, false, {})
      return
    end
    timer:close()
    local ok, message = pcall(finish, build)
    vim.api.nvim_echo({ { message } }, true, { err = not ok })
  end
  timer:start(0, 1000, vim.schedule_wrap(show))
end

---For `nvim -l build.lua` and `--headless`: nobody is looking, and the process ends with the script.
local function run_and_wait()
  local build = start()
  local shown = ""
  repeat
    vim.wait(POLL_MS, function()
      return build.code ~= nil
    end, POLL_MS / 10)
    if build.step ~= shown then
      shown = build.step
      io.stderr:write(shown, "\n")
    end
  until build.code
  io.stderr:write(finish(build), "\n")
end

local thread, is_main = coroutine.running()
if thread and not is_main then
  run_in_coroutine()
elseif #vim.api.nvim_list_uis() == 0 then
  run_and_wait()
else
  run_in_background()
end
