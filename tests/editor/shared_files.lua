-- What shared_files.rs runs in its editor.
-- luacheck: globals done failed first native second server told

local M = {}

function M.disable_all(number)
  done, failed = 0, {}
  local timer = vim.uv.new_timer()
  timer:start(
    0,
    7,
    vim.schedule_wrap(function()
      if done == 40 then
        return timer:is_closing() or timer:close()
      end
      done = done + 1
      local ok, err = native.disable("s" .. number .. "_" .. done, { persist = true })
      if not ok and err:find("is locked by another program", 1, true) then
        -- The others wrote for as long as one waits: it is told, and tried again here.
        done = done - 1
      elseif not ok then
        failed[#failed + 1] = tostring(err)
      end
    end)
  )
end

function M.note_all(number)
  done, failed = 0, {}
  local memory = require("lathe.tools.builtin.memory")
  local function next_one()
    done = done + 1
    if done > 40 then
      return
    end
    local text = "l" .. number .. "_" .. done
    local args = { command = "insert", path = "/memories/n.md", insert_line = 1, insert_text = text }
    memory.cmds[1]({ tool = memory }, args, {
      output_cb = vim.schedule_wrap(function(result)
        if result.status ~= "success" then
          failed[#failed + 1] = result.data
        end
        next_one()
      end),
    })
  end
  next_one()
end

function M.prepare()
  native = require("lathe.native")
  told = {}
  vim.notify = function(text)
    told[#told + 1] = text
  end
  function server(name)
    native.add_server(name, {})
  end
end

function M.early_event()
  server("one")
  local timer = vim.uv.new_timer()
  timer:start(0, 0, function()
    timer:close()
    first = { pcall(native.disable, "one", { persist = true }) }
  end)
end

function M.late_event()
  require("lathe.core").load()
  local timer = vim.uv.new_timer()
  timer:start(0, 0, function()
    timer:close()
    second = { pcall(native.disable, "one", { persist = true }) }
  end)
end

return M
