-- What resume.rs runs in its editor.

local M = {}

function M.marks()
  local ns = vim.api.nvim_get_namespaces()["lathe.look"]
  return vim.tbl_map(function(m)
    return { m[2], m[4].virt_text and m[4].virt_text[1][1] or "", m[4].hl_group }
  end, vim.api.nvim_buf_get_extmarks(chat.bufnr, ns, 0, -1, { details = true }))
end

function M.with_less()
  require("lathe").setup({
    adapters = {
      http = { fake = require("lathe.adapters").extend("scripted", { turns = { { text = "scripted answer" } } }) },
    },
    interactions = { chat = { adapter = "fake", tools = { quick = tool("quick", {}) } } },
  })
  vim.ui.select = function(items, opts, on_choice)
    on_choice(items[1])
  end
  vim.cmd("Lathe resume")
end

return M
