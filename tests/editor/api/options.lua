-- What api/options.rs runs in its editor.
-- luacheck: globals called told

local M = {}

function M.unknown_options()
  told = {}
  vim.notify = function(text)
    told[#told + 1] = text
  end
  open({ { text = "hello" } }, {}, {
    _unlisted = true,
    is_single_call = true,
    on_turn_finished = function()
      called = true
    end,
    opens_for_questions = true,
    prompt = "hi",
  })
end

return M
