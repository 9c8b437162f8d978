-- Needs modules of the plugin when it is loaded, as most tools do.
local config = require("codecompanion.config").config
local log = require("codecompanion.utils.log")
local util = require("codecompanion.utils")
local approvals = require("codecompanion.interactions.chat.tools.approvals")
local helpers = require("codecompanion.interactions.chat.tools.builtin.helpers")

local fmt = string.format
local user_role = config.constants.USER_ROLE

---@class Notes: CodeCompanion.Tools.Tool
return {
  name = "notes",
  cmds = {
    ---@param self CodeCompanion.Tools
    function(self, args, opts)
      log:debug("[Notes] %s", args)
      util.fire("NotesAdded", { bufnr = self.chat.bufnr, text = args.text })
      return {
        status = "success",
        data = fmt(
          "%s: %s (%s)",
          user_role,
          args.text,
          tostring(approvals:is_approved(self.chat.bufnr, { tool_name = "notes" }))
        ),
      }
    end,
  },
  schema = {
    type = "function",
    ["function"] = {
      name = "notes",
      description = "Take a note",
      parameters = { type = "object", properties = { text = { type = "string" } }, required = { "text" } },
    },
  },
  opts = { require_approval_before = true },
  output = {
    success = function(self, stdout, meta)
      meta.tools.chat:add_tool_output(self, { content = stdout[#stdout] })
    end,
    rejected = function(self, meta)
      helpers.rejected(self, vim.tbl_extend("force", meta, { message = "The user wants no notes" }))
    end,
  },
}
