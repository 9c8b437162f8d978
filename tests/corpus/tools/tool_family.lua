-- A plugin that makes its tools in a loop: closures over a table of what each does.
local specs = {
  upper = { "Write in capitals", string.upper },
  lower = { "Write in small letters", string.lower },
  length = { "Count the bytes", string.len },
}

local function respond(format)
  return function(self, tools, _, output)
    local list = output or {}
    tools.chat:add_tool_output(self, format:format(self.name, tostring(list[#list])))
  end
end

local M = {}

for name, spec in pairs(specs) do
  M["text_" .. name] = {
    description = spec[1],
    callback = function()
      return {
        name = "text_" .. name,
        cmds = {
          function(_, args)
            return { status = "success", data = spec[2](args.text) }
          end,
        },
        schema = {
          type = "function",
          ["function"] = {
            name = "text_" .. name,
            description = spec[1],
            parameters = { type = "object", properties = { text = { type = "string" } }, required = { "text" } },
          },
        },
        output = { success = respond("%s: %s"), error = respond("%s failed: %s") },
      }
    end,
  }
end

return M
