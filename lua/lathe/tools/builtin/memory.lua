-- memory: notes that the model keeps from chat to chat, as files in the state folder. Providers that know such a tool
-- call it in this form, too. What happens to the files is in `tools/memory_files.lua`.

local memory_files = require("lathe.tools.memory_files")

-- For so long another Neovim may change the files.
local RETRY_MS, MAX_TRIES = 25, 100

---@param description string
---@return table
local function text(description)
  return { type = "string", description = description }
end

---@type lathe.Tool
return {
  name = "memory",
  schema = {
    type = "function",
    ["function"] = {
      name = "memory",
      description = "Keep notes from one chat to the next, as text files below /memories: view a file or folder, "
        .. "create a file, replace a text in one (str_replace), insert lines, delete or rename a file or folder.",
      parameters = {
        type = "object",
        properties = {
          command = { type = "string", enum = { "view", "create", "str_replace", "insert", "delete", "rename" } },
          path = text("The file or folder, such as /memories/notes.md; all commands but rename"),
          view_range = { type = "array", items = { type = "integer" }, description = "view: first and last line" },
          file_text = text("create: what the file holds"),
          old_str = text("str_replace: the text to replace, which must be there exactly once"),
          new_str = text("str_replace: the text in its place"),
          insert_line = { type = "integer", description = "insert: after which line, 0 for the beginning" },
          insert_text = text("insert: the lines"),
          old_path = text("rename: the file or folder"),
          new_path = text("rename: its new path"),
        },
        required = { "command" },
      },
    },
  },
  system_prompt = "You have a memory tool: files below /memories last from chat to chat. Look at /memories before you "
    .. "begin a task, and write down what will help later. What you have not written is gone after this chat.",
  cmds = {
    function(self, args, opts)
      local function try(tries_left)
        local result, succeeded, is_locked = memory_files.run(args, self.tool.opts.whitelist)
        if is_locked and tries_left > 0 then
          vim.defer_fn(function()
            try(tries_left - 1)
          end, RETRY_MS)
        else
          opts.output_cb({ status = succeeded and "success" or "error", data = result })
        end
      end
      try(MAX_TRIES)
    end,
  },
  opts = { whitelist = {} },
  permission = {
    key = "memory",
    values = function(args)
      return vim.tbl_filter(function(path)
        return type(path) == "string"
      end, { args.path or false, args.old_path or false, args.new_path or false })
    end,
  },
  handlers = {
    -- What is the user's own is not changed without a question.
    prompt_condition = function(self)
      local args = self.args
      for _, path in ipairs({ args.path or false, args.old_path or false, args.new_path or false }) do
        local place = path and memory_files.place(path, self.opts.whitelist)
        if place and not place.is_own then
          return args.command ~= "view"
        end
      end
      return false
    end,
  },
  output = {
    cmd_string = function(self)
      local path = self.args.path or self.args.old_path
      return ("%s %s"):format(tostring(self.args.command), tostring(path or ""))
    end,
    success = function(self, stdout, meta)
      meta.tools.chat:add_tool_output(self, { content = stdout[#stdout] })
    end,
    error = function(self, stderr, meta)
      meta.tools.chat:add_tool_output(self, { content = tostring(stderr[#stderr]) })
    end,
  },
}
