-- Agent generation: a factory that makes a search tool; the job answers later, what the model and the user read differ.
local function flatten(t)
  return vim.iter(t):flatten(math.huge):totable()
end

---@param opts { max: integer, program: string[] }
return function(opts)
  opts = vim.tbl_deep_extend("force", { max = 2, program = { "printf", "%s\\n" } }, opts or {})
  return {
    name = "vector_search",
    cmds = {
      ---@param agent table
      ---@param args { query: string[] }
      ---@param _ any
      ---@param cb fun(result: table)
      function(agent, args, _, cb)
        cb = vim.schedule_wrap(cb)
        if #args.query == 0 then
          return { status = "error", data = { "The query", { "is empty" } } }
        end
        vim.system(vim.list_extend(vim.deepcopy(opts.program), args.query), { text = true }, function(out)
          if out.code ~= 0 then
            return cb({ status = "error", data = out.stderr })
          end
          local found = {}
          for word in out.stdout:gmatch("%S+") do
            found[#found + 1] = { path = word .. ".lua", document = "about " .. word }
          end
          cb({ status = "success", data = vim.list_slice(found, 1, opts.max) })
        end)
      end,
    },
    schema = {
      type = "function",
      ["function"] = {
        name = "vector_search",
        description = "Find files by meaning",
        parameters = {
          type = "object",
          properties = { query = { type = "array", items = { type = "string" } } },
          required = { "query" },
        },
      },
    },
    output = {
      success = function(self, agent, cmd, stdout)
        local result = stdout[#stdout]
        for i, file in ipairs(result) do
          agent.chat:add_tool_output(
            self,
            ("<path>%s</path><document>%s</document>"):format(file.path, file.document),
            i == 1 and ("**vector_search**: %d files"):format(#result) or ""
          )
        end
      end,
      error = function(self, agent, cmd, stderr)
        local text = type(stderr) == "table" and table.concat(flatten(stderr), " ") or tostring(stderr)
        agent.chat:add_tool_output(self, "**vector_search**: " .. text)
      end,
    },
  }
end
