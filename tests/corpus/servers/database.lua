-- Tools made in a loop over the tables of a database; the server comes with the first of them.
local tables = { users = { "ann", "bob" }, cities = { "Rome" } }

return function()
  local mcphub = require("mcphub")
  for name, rows in vim.spairs(tables) do
    mcphub.add_tool("database", {
      name = "query_" .. name,
      description = function()
        return ("Query %d %s"):format(#rows, name)
      end,
      inputSchema = function()
        return {
          type = "object",
          properties = { row = { type = "string", enum = rows } },
        }
      end,
      handler = function(req, res)
        vim.schedule(function()
          local row = req.params.row
          res:text(row and ("found " .. row) or table.concat(rows, ", ")):send()
        end)
      end,
    })
  end
end
