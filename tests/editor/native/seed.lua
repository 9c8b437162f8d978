-- What native/seed.rs runs in its editor.
-- luacheck: globals around example fixtures

local M = {}

-- `example(name)` runs an example; what its author had around it stands in `around`.
function M.around(...)
  fixtures = ...
  require("lathe.compat.mcphub").enable()
  around = setmetatable({ mcphub = require("mcphub") }, { __index = _G })
  -- A small stand-in for `plenary.path`.
  around.Path = {
    new = function(_, path)
      return {
        exists = function()
          return vim.uv.fs_stat(path) ~= nil
        end,
        iter = function()
          return io.lines(path)
        end,
        read = function()
          local f = io.open(path)
          local text = f:read("*a")
          f:close()
          return text
        end,
      }
    end,
  }
  function example(name)
    setfenv(assert(loadfile(fixtures .. name .. ".lua")), around)()
  end
end

function M.known_names()
  local names = {}
  for _, n in ipairs({
    "add_server",
    "add_tool",
    "add_resource",
    "add_resource_template",
    "add_prompt",
    "is_native_server",
    "on",
    "off",
  }) do
    names[#names + 1] = type(require("mcphub")[n])
  end
  return table.concat(names, " ")
end

function M.example()
  dofile(vim.api.nvim_get_runtime_file("examples/native.lua", false)[1])
  local options = require("lathe.config").get().native
  use({
    answer(
      "notes__add",
      { name = "one", text = "first" },
      "notes__add",
      { name = "../x", text = "" },
      "notes__list",
      {}
    ),
    { text = "done" },
  }, { "notes", "neovim" }, { auto_approve = true, servers = options.servers })
  send("see #{mcp:notes://all}")
end

return M
