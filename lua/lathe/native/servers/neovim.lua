-- The native server `neovim`: what the editor knows, as tools and resources. It reads and changes nothing. Turned on
-- with `native = { servers = { neovim = true } }`; a server to copy.
local api = vim.api

local severities = { "error", "warning", "info", "hint" }

---@param bufnr integer
---@return string
local function name_of(bufnr)
  local name = api.nvim_buf_get_name(bufnr)
  return name ~= "" and vim.fn.fnamemodify(name, ":~:.") or "[No Name]"
end

---The buffer that a call means.
---@param given any number or text of one; nil: the one that the user worked in last
---@param info lathe.native.EditorInfo
---@return integer? bufnr
---@return string? message
local function buffer_of(given, info)
  if given == nil then
    local active = info.last_active
    return active and active.bufnr, "No file is open: name a buffer, list_buffers tells which there are"
  end
  local bufnr = tonumber(given)
  if not bufnr or not api.nvim_buf_is_valid(bufnr) then
    return nil, ("There is no buffer %s: list_buffers tells which there are"):format(tostring(given))
  end
  return bufnr
end

---@param lines string[]
---@param nothing string what is said when there is none
---@return string
local function listed(lines, nothing)
  return lines[1] and table.concat(lines, "\n") or nothing
end

---@param info lathe.native.EditorInfo
---@return string
local function buffers(info)
  local lines = {}
  for _, buffer in ipairs(info.buffers) do
    lines[#lines + 1] = ("%d  %s  %d lines%s%s%s"):format(
      buffer.bufnr,
      name_of(buffer.bufnr),
      buffer.line_count,
      buffer.filetype ~= "" and "  " .. buffer.filetype or "",
      buffer.is_modified and "  modified" or "",
      buffer.is_visible and "  visible" or ""
    )
  end
  return listed(lines, "No file is open.")
end

---@return string
local function windows()
  local lines = {}
  for _, win in ipairs(api.nvim_list_wins()) do
    local bufnr, cursor = api.nvim_win_get_buf(win), api.nvim_win_get_cursor(win)
    lines[#lines + 1] = ("%d  tab %d  buffer %d  %s  line %d of %d%s"):format(
      win,
      api.nvim_tabpage_get_number(api.nvim_win_get_tabpage(win)),
      bufnr,
      name_of(bufnr),
      cursor[1],
      api.nvim_buf_line_count(bufnr),
      win == api.nvim_get_current_win() and "  current" or ""
    )
  end
  return table.concat(lines, "\n")
end

---@param bufnr integer? nil: all
---@param severity string?
---@return string
local function diagnostics(bufnr, severity)
  local at_least = severity and vim.fn.index(severities, severity) + 1 or nil
  local lines = {}
  for _, item in ipairs(vim.diagnostic.get(bufnr, at_least and { severity = { min = at_least } } or nil)) do
    lines[#lines + 1] = ("%s:%d:%d: %s: %s%s"):format(
      name_of(item.bufnr),
      item.lnum + 1,
      item.col + 1,
      severities[item.severity],
      (item.message:gsub("\n", " ")),
      item.source and (" [%s]"):format(item.source) or ""
    )
  end
  return listed(lines, "No diagnostics.")
end

---@return string
local function quickfix()
  local list = vim.fn.getqflist({ items = 0, title = 0 })
  local lines = {}
  for _, item in ipairs(list.items) do
    local where = item.bufnr > 0 and ("%s:%d:%d: "):format(name_of(item.bufnr), item.lnum, item.col) or ""
    lines[#lines + 1] = where .. vim.trim(item.text)
  end
  return lines[1] and list.title .. "\n" .. table.concat(lines, "\n") or "The quickfix list is empty."
end

---@param bufnr integer
---@param first integer
---@param last integer -1: the last line
---@return string
local function text_of(bufnr, first, last)
  vim.fn.bufload(bufnr)
  return table.concat(api.nvim_buf_get_lines(bufnr, first - 1, last, false), "\n")
end

-- Language servers ----------------------------------------------------------------------------------------------------

---Asks the language servers of a buffer; ends with the call.
---@param req lathe.native.Request
---@param res lathe.native.Response
---@param bufnr integer
---@param method string
---@param params fun(client: vim.lsp.Client): table
---@param line fun(item: table): string?
local function ask_servers(req, res, bufnr, method, params, line)
  if not vim.lsp.get_clients({ bufnr = bufnr, method = method })[1] then
    return res:error(("No language server of %s can do this (%s)"):format(name_of(bufnr), method))
  end
  local cancel = vim.lsp.buf_request_all(
    bufnr,
    method,
    params,
    res:guard(function(answers)
      local lines = {}
      for _, answer in pairs(answers) do
        for _, item in ipairs(answer.result or {}) do
          lines[#lines + 1] = line(item)
        end
      end
      res:text(listed(lines, "Nothing was found.")):send()
    end)
  )
  req.signal.on_cancel(cancel)
end

---@param uri string
---@param range lsp.Range
---@return string
local function place(uri, range)
  local path = vim.fn.fnamemodify(vim.uri_to_fname(uri), ":~:.")
  return ("%s:%d:%d"):format(path, range.start.line + 1, range.start.character + 1)
end

---@param symbol table a `DocumentSymbol` or a `SymbolInformation`
---@param uri string
---@return string
local function symbol_line(symbol, uri)
  local location = symbol.location or { uri = uri, range = symbol.selectionRange or symbol.range }
  local kind = vim.lsp.protocol.SymbolKind[symbol.kind] or "symbol"
  local line = ("%s  %s %s"):format(place(location.uri, location.range), kind, symbol.name)
  for _, child in ipairs(symbol.children or {}) do
    line = line .. "\n" .. symbol_line(child, uri)
  end
  return line
end

-- The server ----------------------------------------------------------------------------------------------------------

local bufnr_schema = { type = "integer", description = "buffer number; default: the file that the user worked in last" }

---@type lathe.native.ServerDef
return {
  displayName = "Neovim",
  description = "What the editor knows: buffers, windows, diagnostics, quickfix list, symbols",
  capabilities = {
    tools = {
      {
        name = "list_buffers",
        description = "Lists the files that are open in the editor",
        handler = function(req, res)
          return res:text(buffers(req.editor_info))
        end,
      },
      {
        name = "read_buffer",
        description = "Reads an open file as it is in the editor, with changes that are not saved",
        inputSchema = {
          type = "object",
          properties = {
            bufnr = bufnr_schema,
            first_line = { type = "integer", minimum = 1, description = "default: 1" },
            last_line = { type = "integer", minimum = 1, description = "default: the last" },
          },
        },
        handler = function(req, res)
          local bufnr, message = buffer_of(req.params.bufnr, req.editor_info)
          if not bufnr then
            return res:error(message)
          end
          return res:text(text_of(bufnr, req.params.first_line or 1, req.params.last_line or -1))
        end,
      },
      {
        name = "list_windows",
        description = "Lists the windows of the editor, what they show and where the cursor is",
        handler = function(_, res)
          return res:text(windows())
        end,
      },
      {
        name = "diagnostics",
        description = "Lists errors and warnings that language servers and linters report",
        inputSchema = {
          type = "object",
          properties = {
            bufnr = { type = "integer", description = "buffer number; default: all files" },
            severity = { type = "string", enum = severities, description = "the least severity that is told" },
          },
        },
        handler = function(req, res)
          local bufnr = req.params.bufnr
          if bufnr and not api.nvim_buf_is_valid(bufnr) then
            return res:error(("There is no buffer %d: list_buffers tells which there are"):format(bufnr))
          end
          return res:text(diagnostics(bufnr, req.params.severity))
        end,
      },
      {
        name = "quickfix",
        description = "Reads the quickfix list: results of the last build or search",
        handler = function(_, res)
          return res:text(quickfix())
        end,
      },
      {
        name = "symbols",
        description = "Lists the symbols of a file (functions, classes …) that its language server knows",
        inputSchema = { type = "object", properties = { bufnr = bufnr_schema } },
        handler = function(req, res)
          local bufnr, message = buffer_of(req.params.bufnr, req.editor_info)
          if not bufnr then
            return res:error(message)
          end
          local uri = vim.uri_from_bufnr(bufnr)
          ask_servers(req, res, bufnr, "textDocument/documentSymbol", function()
            return { textDocument = { uri = uri } }
          end, function(symbol)
            return symbol_line(symbol, uri)
          end)
        end,
      },
      {
        name = "references",
        description = "Lists where the symbol at a place is used, as its language server knows it",
        inputSchema = {
          type = "object",
          properties = {
            bufnr = bufnr_schema,
            line = { type = "integer", minimum = 1 },
            column = { type = "integer", minimum = 1, description = "of any character of the symbol" },
          },
          required = { "line", "column" },
        },
        handler = function(req, res)
          local bufnr, message = buffer_of(req.params.bufnr, req.editor_info)
          if not bufnr then
            return res:error(message)
          end
          local row = req.params.line - 1
          local text = text_of(bufnr, row + 1, row + 1)
          ask_servers(req, res, bufnr, "textDocument/references", function(client)
            local index = math.min(req.params.column - 1, #text)
            local character = vim.str_utfindex(text, client.offset_encoding, index, false)
            return {
              textDocument = { uri = vim.uri_from_bufnr(bufnr) },
              position = { line = row, character = character },
              context = { includeDeclaration = true },
            }
          end, function(location)
            return place(location.uri, location.range)
          end)
        end,
      },
    },
    resources = {
      {
        uri = "neovim://buffers",
        description = "The files that are open",
        handler = function(req, res)
          return res:text(buffers(req.editor_info))
        end,
      },
      {
        uri = "neovim://windows",
        description = "The windows and what they show",
        handler = function(_, res)
          return res:text(windows())
        end,
      },
      {
        uri = "neovim://diagnostics",
        description = "Errors and warnings of all files",
        handler = function(_, res)
          return res:text(diagnostics())
        end,
      },
      {
        uri = "neovim://quickfix",
        description = "The quickfix list",
        handler = function(_, res)
          return res:text(quickfix())
        end,
      },
    },
    resourceTemplates = {
      {
        uriTemplate = "neovim://buffer/{bufnr}",
        description = "An open file as it is in the editor",
        handler = function(req, res)
          local bufnr, message = buffer_of(req.params.bufnr, req.editor_info)
          return bufnr and res:text(text_of(bufnr, 1, -1)) or res:error(message)
        end,
      },
      {
        uriTemplate = "neovim://diagnostics/{bufnr}",
        description = "Errors and warnings of a file",
        handler = function(req, res)
          local bufnr, message = buffer_of(req.params.bufnr, req.editor_info)
          return bufnr and res:text(diagnostics(bufnr)) or res:error(message)
        end,
      },
    },
  },
}
