-- Tools, resources, templates and prompts that are added one after another.
return function()
  local mcphub = require("mcphub")
  local notes = { today = "water the plants" }

  mcphub.add_server("notes", { displayName = "Notes" })
  mcphub.add_tool("notes", {
    name = "write",
    inputSchema = {
      type = "object",
      properties = { name = { type = "string" }, text = { type = "string" } },
      required = { "name", "text" },
    },
    handler = function(req, res)
      notes[req.params.name] = req.params.text
      return res:text("written"):send()
    end,
  })
  mcphub.add_resource("notes", {
    name = "today",
    uri = "notes://today",
    mimeType = "text/plain",
    handler = function(req, res)
      return res:text(notes.today):send()
    end,
  })
  mcphub.add_resource_template("notes", {
    name = "note",
    uriTemplate = "notes://by-name/{name}",
    handler = function(req, res)
      local text = notes[req.params.name]
      return text and res:text(text):send() or res:error("No note " .. req.params.name)
    end,
  })
  mcphub.add_prompt("notes", {
    name = "plan",
    description = "Plan a day",
    arguments = { { name = "day", required = true } },
    handler = function(req, res)
      return res:system():text("You plan days."):user():text("Plan " .. req.params.day):llm():text("Gladly."):send()
    end,
  })
end
