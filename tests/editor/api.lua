-- What api.rs runs in its editor.

local M = {}

function M.three_calls()
  open({ answer("t", { a = 1 }, "asks", {}, "missing", {}), { text = "done" } }, {
    t = tool("t", {
      function()
        return { status = "success", data = "ran" }
      end,
    }),
    asks = tool("asks", {
      function()
        return { status = "error", data = "no" }
      end,
    }, { opts = { require_approval_before = true } }),
  })
end

function M.wrong_event()
  for _, e in ipairs(events) do
    local d = e.data
    if d.bufnr ~= chat.bufnr or d.chat_id ~= chat.id then
      return e.name .. ": chat"
    end
    if
      e.name:find("^LatheTool[SFA]")
      and not e.name:find("ToolsSt")
      and not e.name:find("ToolsFi")
      and e.name ~= "LatheToolAdded"
    then
      if type(d.id) ~= "number" or d.source ~= "lua" or (d.tool ~= "missing" and type(d.args) ~= "table") then
        return e.name .. ": call"
      end
      if e.name == "LatheToolFinished" and type(d.duration_ms) ~= "number" then
        return e.name .. ": duration"
      end
    end
    if e.name:find("Request") and type(d.id) ~= "number" then
      return e.name .. ": id"
    end
  end
  return ""
end

return M
