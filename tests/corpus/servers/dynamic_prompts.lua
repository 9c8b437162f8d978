-- Prompts with arguments that are made when they are asked for, and one that fails.
return function()
  local mcphub = require("mcphub")
  mcphub.add_prompt("library", {
    name = "translate",
    arguments = function()
      return {
        { name = "language", required = true, enum = { "Latin", "Greek" } },
        { name = "tone", default = "formal" },
      }
    end,
    handler = function(req, res)
      return res:user():text(("Translate into %s, %s"):format(req.params.language, req.params.tone or "any")):send()
    end,
  })
  mcphub.add_prompt("library", {
    name = "broken",
    handler = function(req, res)
      return res:error("no books")
    end,
  })
end
