-- What docs.rs runs in its editor.

local M = {}

function M.option_names()
  local names = {}
  local function walk(options)
    for name, value in pairs(options) do
      if type(name) == "string" then
        names[#names + 1] = name
      end
      if type(value) == "table" and name ~= "keymaps" then
        walk(value)
      end
    end
  end
  walk(require("lathe.config").get())
  return names
end

return M
