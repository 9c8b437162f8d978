-- A server of a project: reads files, runs a program, asks for the editor's state.
return function()
  local mcphub = require("mcphub")
  mcphub.add_server("workspace", {
    capabilities = {
      tools = {
        {
          name = "run",
          description = "Run a program",
          inputSchema = {
            type = "object",
            properties = { words = { type = "array", items = { type = "string" } } },
            required = { "words" },
          },
          handler = function(req, res)
            local job = vim.system(req.params.words, { text = true }, function(out)
              if out.code ~= 0 then
                return res:error("exit code " .. out.code, { stderr = out.stderr })
              end
              res:text(vim.trim(out.stdout)):send()
            end)
            req.signal.on_cancel(function()
              job:kill(15)
            end)
          end,
        },
        {
          name = "buffer",
          handler = function(req, res)
            local buffer = req.editor_info.last_active
            if not buffer then
              return res:error("No active buffer")
            end
            return res:text(("%s %d lines"):format(vim.fs.basename(buffer.filename), buffer.line_count)):send()
          end,
        },
      },
      prompts = {
        {
          name = "review",
          handler = function(req, res)
            return res:user():text("Review the project"):send()
          end,
        },
      },
    },
  })
end
