-- What contract/provider.rs runs in its editor.
-- luacheck: globals adapter seen tools

local M = {}

function M.searching()
  adapter = {
    available_tools = { search = { description = "Searches", callback = function() end } },
    handlers = {
      request = {
        build_tools = function(_, args)
          seen = vim.deepcopy(args.tools)
          return { tools = {} }
        end,
      },
    },
  }
end

function M.renaming()
  adapter = {
    handlers = {
      request = {
        build_tools = function(_, args)
          local schema = args.tools[1].mine
          local name = schema["function"].name
          schema["function"].name, schema["function"].parameters = "changed", nil
          return { tools = { { type = "function", ["function"] = { name = name } } } }
        end,
      },
    },
  }
end

function M.memory()
  adapter = {
    available_tools = {
      memory = {
        system_prompt = function(schema)
          return "about " .. schema.name
        end,
        callback = function(self, meta)
          self.headers["x-beta"] = "memory"
          table.insert(meta.tools, { type = "memory_1", name = "memory" })
        end,
      },
    },
  }
end

function M.client_tool()
  tools = {
    memory_here = tool("memory_here", {
      function(self, args)
        return { status = "success", data = self.tool.name .. " " .. args.path }
      end,
    }, { opts = { require_approval_before = true } }),
  }
  adapter = {
    available_tools = {
      memory = {
        description = "Remembers",
        callback = function(_, meta)
          table.insert(meta.tools, { type = "memory_1", name = "memory" })
        end,
        opts = { client_tool = "interactions.chat.tools.memory_here" },
      },
    },
  }
end

return M
