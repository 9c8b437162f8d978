-- A tool that looks at who calls it.
return function()
  require("mcphub").add_tool("context", {
    name = "get_code",
    handler = function(req, res)
      if req.caller.type == "codecompanion" then
        local chat = req.caller.codecompanion.chat
        return res:text(("chat %d has %d messages"):format(chat.id, #chat.messages)):send()
      elseif req.caller.type == "avante" then
        return res:text("avante"):send()
      end
      return res:text("nobody: " .. tostring(req.caller.type)):send()
    end,
  })
end
