-- Handlers that return their result in one of the ways that people try.
return function()
  local mcphub = require("mcphub")
  local function add(name, handler)
    mcphub.add_tool("returns", { name = name, handler = handler })
  end
  add("builder", function(req, res)
    return res:text("builder")
  end)
  add("text", function()
    return "plain"
  end)
  add("content", function()
    return { content = { { type = "text", text = "content" } } }
  end)
  add("result", function()
    return { result = { content = { { type = "text", text = "result" } } } }
  end)
  add("throws", function()
    error("out of paper")
  end)
end
