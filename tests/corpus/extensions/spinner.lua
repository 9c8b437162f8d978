-- A spinner: it listens to the plugin's events and nothing else.
local M = { active = 0, frames = { "-", "\\", "|", "/" }, log = {} }

function M.start()
  M.active = M.active + 1
end

function M.stop()
  M.active = M.active - 1
end

return {
  setup = function(opts)
    local group = vim.api.nvim_create_augroup("Spinner", { clear = true })
    vim.api.nvim_create_autocmd("User", {
      pattern = { "CodeCompanionRequest*", "CodeCompanionTool*", "CodeCompanionChat*" },
      group = group,
      callback = function(event)
        local name = event.match:gsub("^CodeCompanion", "")
        local data = event.data
        M.log[#M.log + 1] = name
        M.last = M.last or {}
        M.last[name] = data
        if name == "RequestStarted" then
          M.start()
        elseif name == "RequestFinished" then
          M.stop()
        end
        if opts.on_event then
          opts.on_event(name, data)
        end
      end,
    })
  end,
  exports = {
    is_active = function()
      return M.active > 0
    end,
    log = function()
      return M.log
    end,
    last = function(name)
      return M.last and M.last[name]
    end,
  },
}
