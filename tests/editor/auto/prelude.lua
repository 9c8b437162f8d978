-- `gated(name, opts, gates)`: a tool that notes its runs in `ran`.
-- luacheck: globals asked gated ran told

ran, told = {}, {}
vim.notify = function(text)
  told[#told + 1] = text
end
function gated(name, opts, gates)
  local entry = tool(name, {
    function()
      ran[#ran + 1] = name
      return { status = "success", data = "ran " .. name }
    end,
  })
  entry.opts = vim.tbl_extend("force", { require_approval_before = true }, opts or {})
  entry.gates = gates
  entry.output.cmd_string = function(self)
    return "cmd " .. (self.args.n or "")
  end
  return entry
end
function asked()
  return count("LatheToolApprovalRequested")
end
