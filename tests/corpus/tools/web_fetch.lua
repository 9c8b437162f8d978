-- Agent generation: the answer comes from a timer, by the fourth parameter, which keeps its place when others are unused.
return {
  name = "web_fetch",
  cmds = {
    function(_, args, _, output_handler)
      vim.defer_fn(function()
        if args.url:find("^https://") then
          output_handler({ status = "success", data = { body = "<p>" .. args.url .. "</p>", status = 200 } })
          output_handler({ status = "error", data = "twice" })
        else
          output_handler({ status = "error", data = "unsupported scheme" })
        end
      end, 5)
    end,
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "web_fetch",
      description = "Fetch a page",
      parameters = { type = "object", properties = { url = { type = "string" } }, required = { "url" } },
    },
  },
  output = {
    success = function(self, agent, _, stdout)
      local page = stdout[1]
      agent.chat:add_tool_output(self, ("%d %s"):format(page.status, page.body), "fetched")
    end,
    error = function(self, agent, _, stderr)
      agent.chat:add_tool_output(self, "fetching failed: " .. stderr[1])
    end,
  },
}
