-- What native/scale.rs runs in its editor.
-- luacheck: globals groups message

local M = {}

-- Registers 20 servers of 25 tools and opens a chat.
function M.world()
  for s = 1, 20 do
    for t = 1, 25 do
      serve("server" .. s, "tool" .. t, function()
        return "ran"
      end, {
        description = t % 5 == 0 and function()
          return "tool " .. t
        end or ("tool " .. t),
        inputSchema = {
          type = "object",
          properties = {
            path = { type = "string", description = "a path of " .. s .. " and " .. t },
            lines = { type = "array", items = { type = "integer", minimum = 1 } },
            deep = {
              type = "object",
              properties = { a = { enum = { "x", "y", t } }, b = { type = "boolean", default = true } },
            },
          },
          required = { "path" },
        },
      })
    end
  end
  groups = {}
  for s = 1, 20 do
    groups[s] = "server" .. s
  end
  use({ answer("server20__tool25", { path = "x" }), { text = "done" }, { text = "again" } }, {})
  message = "@{" .. table.concat(groups, "} @{") .. "} go"
end

return M
