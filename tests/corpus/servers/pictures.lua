-- Text and a picture in one answer, by the chain.
return function()
  require("mcphub").add_tool("diagram", {
    name = "draw",
    handler = function(req, res)
      local png = "\137PNG\r\n\26\n" .. ("\0"):rep(24)
      return res:text("Drawn:"):image(png, "image/png"):text("That was it."):send()
    end,
  })
end
