-- What native/server.rs runs in its editor.
-- luacheck: globals ask asked buffer cancelled hang

local M = {}

-- A language server inside the editor that knows one function and two places where it is used.
function M.language_server()
  local function server(dispatchers)
    local closing = false
    local function range(line, character)
      return { start = { line = line, character = character }, ["end"] = { line = line, character = character + 1 } }
    end
    return {
      request = function(method, params, callback)
        if method == "initialize" then
          callback(nil, { capabilities = { documentSymbolProvider = true, referencesProvider = true } })
        elseif method == "textDocument/documentSymbol" then
          if hang then
            return true, 1
          end
          callback(nil, {
            {
              name = "outer",
              kind = 12,
              range = range(0, 0),
              selectionRange = range(0, 9),
              children = {
                { name = "inner", kind = 13, range = range(1, 0), selectionRange = range(1, 8) },
              },
            },
          })
        elseif method == "textDocument/references" then
          asked = params
          callback(nil, {
            { uri = params.textDocument.uri, range = range(0, 9) },
            { uri = params.textDocument.uri, range = range(1, 4) },
          })
        else
          callback(nil, {})
        end
        return true, 1
      end,
      notify = function(method)
        if method == "$/cancelRequest" then
          cancelled = true
        end
        return true
      end,
      is_closing = function()
        return closing
      end,
      terminate = function()
        closing = true
        dispatchers.on_exit(0, 0)
      end,
    }
  end
  vim.lsp.start({ name = "fake", cmd = server })
end

function M.opened()
  require("lathe").setup({ native = { servers = { neovim = true }, auto_approve = true } })
  vim.cmd("edit code.lua")
  buffer = vim.api.nvim_get_current_buf()
  function ask(tool, args)
    local r, e = native.call_tool("neovim", tool, args or vim.empty_dict(), { parse_response = true })
    return r and (r.is_error and "ERROR " or "") .. r.text or e.code .. " " .. e.message
  end
end

function M.filled()
  vim.diagnostic.set(vim.api.nvim_create_namespace("test"), buffer, {
    { lnum = 1, col = 6, message = "unused\nvariable", severity = vim.diagnostic.severity.WARN, source = "lint" },
    { lnum = 0, col = 0, message = "bad", severity = vim.diagnostic.severity.ERROR },
  })
  vim.fn.setqflist({}, " ", { title = "make", items = { { bufnr = buffer, lnum = 2, col = 1, text = " oops" } } })
end

return M
