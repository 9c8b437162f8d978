-- A whole server as one table, with a class behind it.
local Tracker = {}
Tracker.__index = Tracker

function Tracker.new()
  return setmetatable({ issues = {}, next = 1 }, Tracker)
end

function Tracker:create(title)
  local id = "ISSUE-" .. self.next
  self.next = self.next + 1
  self.issues[id] = title
  return id
end

return function()
  local tracker = Tracker.new()
  local mcphub = require("mcphub")
  mcphub.add_server({
    name = "issues",
    displayName = "Issue tracker",
    description = "Issues in memory",
    capabilities = {
      tools = {
        {
          name = "create",
          description = "Create an issue",
          inputSchema = { type = "object", properties = { title = { type = "string" } }, required = { "title" } },
          handler = function(req, res)
            return res:text("created " .. tracker:create(req.params.title)):send()
          end,
        },
        {
          name = "show",
          inputSchema = { type = "object", properties = { id = { type = "string" } }, required = { "id" } },
          handler = function(req, res)
            local title = tracker.issues[req.params.id]
            if not title then
              return res:error("No such issue", { id = req.params.id })
            end
            return res:text(req.params.id):text(title):send()
          end,
        },
      },
      resources = {
        {
          name = "All",
          uri = "issues://all",
          handler = function(req, res)
            return res:text(vim.inspect(tracker.issues)):send()
          end,
        },
      },
    },
  })
end
