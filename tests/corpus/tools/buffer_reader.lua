-- Needs helpers of the plugin while it runs: buffers, files, the context of the editor.
return {
  name = "buffer_reader",
  cmds = {
    function(self, args)
      local buf_utils = require("codecompanion.utils.buffers")
      local context_utils = require("codecompanion.utils.context")
      local file_utils = require("codecompanion.utils.files")
      local path = vim.fs.joinpath(args.folder, "deep", "er", "note.txt")
      file_utils.create_dir_recursive(vim.fs.dirname(path))
      file_utils.write_to_path(path, "first\nsecond\n")
      local bufnr = vim.fn.bufadd(path)
      vim.fn.bufload(bufnr)
      vim.bo[bufnr].buflisted = true
      local info = buf_utils.get_info(bufnr)
      local open = vim.tbl_map(function(buffer)
        return buffer.name
      end, buf_utils.get_open())
      local context = context_utils.get(bufnr)
      return {
        status = "success",
        data = table.concat({
          file_utils.read(path),
          tostring(file_utils.exists(path)) .. " " .. tostring(file_utils.is_dir(path)),
          info.name .. " " .. tostring(info.path == path),
          tostring(vim.list_contains(open, "note.txt")),
          buf_utils.get_content(bufnr),
          context.line_count .. " " .. tostring(context.filename == path) .. " " .. tostring(context.is_visual),
          buf_utils.format(bufnr):match("^```"),
        }, "|"),
      }
    end,
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "buffer_reader",
      description = "Read a buffer",
      parameters = { type = "object", properties = { folder = { type = "string" } }, required = { "folder" } },
    },
  },
  output = {
    success = function(self, agent, cmd, stdout)
      agent.chat:add_tool_output(self, stdout[1])
    end,
  },
}
