-- What commands/hostile.rs runs in its editor.

local M = {}

function M.fifty()
  local calls = {}
  for n = 1, 50 do
    calls[#calls + 1] = "t"
    calls[#calls + 1] = { n = n }
  end
  open({ answer(unpack(calls)) }, {
    t = tool("t", { "trap '' TERM; sleep 40 & setsid sleep 40; sleep 40" }, { opts = { parallel = true } }),
    opts = { max_parallel = 50 },
  })
  send("go")
end

return M
