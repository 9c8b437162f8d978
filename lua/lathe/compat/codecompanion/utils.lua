-- `codecompanion.utils` and what is in its folder: small functions that tools borrow.
local M = {}

local api = vim.api
local uv = vim.uv

-- utils ---------------------------------------------------------------------------------------------------------------

M.utils = {
  capitalize = function(text)
    return (text:gsub("^%l", string.upper))
  end,
  fire = function(event, data)
    require("lathe.compat.codecompanion.their_events").fire(event, data)
  end,
  is_array = function(value)
    return type(value) == "table" and type(value[1]) == "table"
  end,
  contains = function(list, value)
    return vim.tbl_contains(list, value)
  end,
  ---@param text any
  ---@param level integer? one of `vim.log.levels`
  notify = function(text, level)
    local levels = vim.log.levels
    local how = (level == nil or level <= levels.INFO) and "info" or level == levels.WARN and "warn" or "error"
    require("lathe.notify")[how](tostring(text))
  end,
  os = function()
    return uv.os_uname().sysname == "Darwin" and "macOS" or "Unix"
  end,
  set_option = function(bufnr, name, value)
    api.nvim_set_option_value(name, value, { buf = bufnr })
  end,
}

---Puts values in the place of `${name}`: in a text, or in all texts of a table.
---@param target string|table
---@param values table<string, any>
---@return string|nil
function M.utils.replace_placeholders(target, values)
  local function fill(text)
    return (
      text:gsub("%${([^}]+)}", function(name)
        return values[name] ~= nil and tostring(values[name]) or nil
      end)
    )
  end
  if type(target) == "string" then
    return fill(target)
  end
  for key, value in pairs(target) do
    if type(value) == "string" then
      target[key] = fill(value)
    elseif type(value) == "table" then
      M.utils.replace_placeholders(value, values)
    end
  end
end

---How long ago a time was.
---@param seconds integer since 1970
---@return string
function M.utils.make_relative(seconds)
  local ago = os.time() - seconds
  for _, unit in ipairs({ { 86400, "d" }, { 3600, "h" }, { 60, "m" } }) do
    if ago >= unit[1] then
      return math.floor(ago / unit[1]) .. unit[2]
    end
  end
  return ago .. "s"
end

-- log -----------------------------------------------------------------------------------------------------------------

---@param level "debug"|"warn"|"error"
---@return fun(self: table, text: any, ...: any)
local function logs(level)
  return function(_, text, ...)
    local values = {}
    for i = 1, select("#", ...) do
      local value = select(i, ...)
      values[i] = type(value) == "table" and vim.inspect(value) or value
    end
    local ok, line = pcall(string.format, tostring(text), unpack(values, 1, select("#", ...)))
    require("lathe.log")[level](ok and line or tostring(text))
  end
end

M.log = {
  trace = logs("debug"),
  debug = logs("debug"),
  info = logs("debug"),
  warn = logs("warn"),
  error = logs("error"),
  get_logfile = function()
    return require("lathe.log").path
  end,
  wrap_cb = function(self, callback, message)
    return function(err, ...)
      if err then
        self:error(message or "Error: %s", err)
      end
      return callback(err, ...)
    end
  end,
}

-- files ---------------------------------------------------------------------------------------------------------------

M.files = {
  exists = function(path)
    return uv.fs_stat(path) ~= nil
  end,
  is_dir = function(path)
    local stat = uv.fs_stat(path)
    return stat ~= nil and stat.type == "directory"
  end,
  create_dir_recursive = function(path)
    local ok, err = pcall(vim.fn.mkdir, vim.fs.normalize(path), "p")
    return ok, not ok and tostring(err) or nil
  end,
  rename = function(from, to)
    local ok, err = uv.fs_rename(from, to)
    return ok or false, err
  end,
  delete = function(path)
    local ok = vim.fn.delete(path, "rf") == 0
    return ok, not ok and "it could not be deleted" or nil
  end,
}

---The content of a file.
---@param path string
---@return string
function M.files.read(path)
  local file, err = io.open(path, "rb")
  if not file then
    error(err, 2)
  end
  local text = file:read("*a")
  file:close()
  return text
end

---The lines of a file.
---@param path string
---@return string[]? lines
---@return string? err
function M.files.read_lines(path)
  local ok, lines = pcall(vim.fn.readfile, path)
  return ok and lines or nil, not ok and tostring(lines) or nil
end

---Writes a file.
---@param path string
---@param text string
---@return boolean ok
---@return string? err
function M.files.write_to_path(path, text)
  local file, err = io.open(path, "wb")
  if not file then
    return false, err
  end
  local ok, why = file:write(text)
  file:close()
  return ok ~= nil, why
end

---The names in a folder, sorted.
---@param path string
---@return string[]? names
---@return string? err
function M.files.list_dir(path)
  if not M.files.is_dir(path) then
    return nil, path .. " is no folder"
  end
  local names = {}
  for name in vim.fs.dir(path) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

-- buffers -------------------------------------------------------------------------------------------------------------

M.buffers = {
  ---@param bufnr integer
  ---@return table
  get_info = function(bufnr)
    local path = api.nvim_buf_get_name(bufnr)
    return {
      bufnr = bufnr,
      number = bufnr,
      id = bufnr,
      filetype = vim.bo[bufnr].filetype,
      name = vim.fs.basename(path),
      short_path = vim.fn.fnamemodify(path, ":~:."),
      path = path,
      relative_path = vim.fn.fnamemodify(path, ":."),
    }
  end,
  ---@param bufnr integer
  ---@param range integer[]? first and last line as `nvim_buf_get_lines` takes them
  ---@return string
  get_content = function(bufnr, range)
    range = range or { 0, -1 }
    return table.concat(api.nvim_buf_get_lines(bufnr, range[1], range[2], false), "\n")
  end,
  ---@param path string
  ---@return integer?
  get_bufnr_from_filepath = function(path)
    local wanted = uv.fs_realpath(vim.fs.normalize(path)) or vim.fs.abspath(vim.fs.normalize(path))
    for _, bufnr in ipairs(api.nvim_list_bufs()) do
      local name = api.nvim_buf_get_name(bufnr)
      if name ~= "" and (name == wanted or uv.fs_realpath(name) == wanted) then
        return bufnr
      end
    end
  end,
}

---The listed buffers.
---@param filetype string? only those with this one
---@return table[]
function M.buffers.get_open(filetype)
  local list = {}
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if vim.bo[bufnr].buflisted and (not filetype or vim.bo[bufnr].filetype == filetype) then
      list[#list + 1] = M.buffers.get_info(bufnr)
    end
  end
  return list
end

---@param text string
---@param filetype string
---@return string
local function fenced(text, filetype)
  local longest = 2
  for run in text:gmatch("`+") do
    longest = math.max(longest, #run)
  end
  local fence = ("`"):rep(longest + 1)
  return ("%s%s\n%s\n%s"):format(fence, filetype, text, fence)
end

---A buffer's text as a block of Markdown.
---@param bufnr integer
---@param range integer[]?
---@return string
function M.buffers.format(bufnr, range)
  return fenced(M.buffers.get_content(bufnr, range), vim.bo[bufnr].filetype)
end

---The same with the number of each line.
---@param bufnr integer
---@param range integer[]?
---@return string
function M.buffers.format_with_line_numbers(bufnr, range)
  local lines = vim.split(M.buffers.get_content(bufnr, range), "\n", { plain = true })
  local first = range and range[1] or 0
  for i, line in ipairs(lines) do
    lines[i] = ("%d:  %s"):format(first + i, line)
  end
  local info = M.buffers.get_info(bufnr)
  local text = fenced(table.concat(lines, "\n"), info.filetype)
  return ("Buffer %d, %s\n%s"):format(bufnr, info.path, text)
end

-- context -------------------------------------------------------------------------------------------------------------

M.context = {
  get_filetype = function(bufnr)
    return vim.bo[bufnr or 0].filetype
  end,
}

---What is selected, or was last.
---@param bufnr integer?
---@return string[] lines
---@return integer start_line 1-based, as all that follow
---@return integer start_col
---@return integer end_line
---@return integer end_col
function M.context.get_visual_selection(bufnr)
  bufnr = bufnr or api.nvim_get_current_buf()
  local is_visual = vim.fn.mode():find("^[vV\22]") ~= nil
  local from = vim.fn.getpos(is_visual and "v" or "'<")
  local to = vim.fn.getpos(is_visual and "." or "'>")
  if from[2] == 0 then
    local lines = api.nvim_buf_get_lines(bufnr, 0, -1, false)
    return lines, 1, 1, #lines, #(lines[#lines] or "")
  elseif from[2] > to[2] or (from[2] == to[2] and from[3] > to[3]) then
    from, to = to, from
  end
  local lines = api.nvim_buf_get_lines(bufnr, from[2] - 1, to[2], false)
  local kind = is_visual and vim.fn.mode() or vim.fn.visualmode()
  local last = #(lines[#lines] or "")
  if kind == "V" or not lines[1] then
    return lines, from[2], 1, to[2], last
  end
  local end_col = math.min(to[3], math.max(last, 1))
  lines[#lines] = lines[#lines]:sub(1, end_col)
  lines[1] = lines[1]:sub(from[3])
  return lines, from[2], from[3], to[2], end_col
end

---Where the user is.
---@param bufnr integer?
---@param args { range: integer? }? of a user command
---@return table
function M.context.get(bufnr, args)
  bufnr = bufnr or api.nvim_get_current_buf()
  local winnr, mode = api.nvim_get_current_win(), vim.fn.mode()
  local cursor = api.nvim_win_get_cursor(winnr)
  local has_range = args ~= nil and (args.range or 0) > 0
  local is_visual = has_range or mode:find("^[vV\22]") ~= nil
  local lines, start_line, start_col, end_line, end_col = {}, cursor[1], cursor[2], cursor[1], cursor[2]
  if is_visual then
    lines, start_line, start_col, end_line, end_col = M.context.get_visual_selection(bufnr)
  end
  return {
    bufnr = bufnr,
    winnr = winnr,
    mode = has_range and "v" or mode,
    is_visual = is_visual,
    is_normal = not is_visual,
    buftype = vim.bo[bufnr].buftype,
    filetype = vim.bo[bufnr].filetype,
    filename = api.nvim_buf_get_name(bufnr),
    cursor_pos = cursor,
    lines = lines,
    code = table.concat(lines, "\n"),
    line_count = api.nvim_buf_line_count(bufnr),
    start_line = start_line,
    start_col = start_col,
    end_line = end_line,
    end_col = end_col,
  }
end

-- adapters ------------------------------------------------------------------------------------------------------------

M.adapters = {
  ---@param roles table<string, string>
  ---@param messages table[]
  ---@return table[]
  map_roles = function(roles, messages)
    for _, message in ipairs(messages) do
      message.role = message.role and roles[message.role:lower()] or message.role
    end
    return messages
  end,
  ---@param params { message: table, allowed_words: string[] }
  ---@return table
  filter_out_messages = function(params)
    local result = {}
    for _, key in ipairs(params.allowed_words) do
      result[key] = params.message[key]
    end
    return result
  end,
  ---@param data string|{ body: string }
  ---@return string
  clean_streamed_data = function(data)
    if type(data) == "table" then
      return data.body
    end
    return data:sub(data:find("{", 1, true) or 1)
  end,
  ---@param adapter table
  ---@return string?
  model = function(adapter)
    local field = adapter.schema and adapter.schema.model
    return adapter.model or (field and field.default)
  end,
}

---Joins messages of one role that follow each other.
---@param messages table[]
---@return table[]
function M.adapters.merge_messages(messages)
  local list = {}
  for _, message in ipairs(messages) do
    local last = list[#list]
    if last and last.role == message.role and type(last.content) == "string" and type(message.content) == "string" then
      last.content = last.content .. "\n\n" .. message.content
    else
      list[#list + 1] = vim.tbl_extend("force", {}, message)
    end
  end
  return list
end

---Joins all system messages to one in front.
---@param messages table[]
---@return table[]
function M.adapters.merge_system_messages(messages)
  local texts, others = {}, {}
  for _, message in ipairs(messages) do
    if message.role == "system" then
      texts[#texts + 1] = message.content
    else
      others[#others + 1] = message
    end
  end
  if texts[1] then
    table.insert(others, 1, { role = "system", content = table.concat(texts, " ") })
  end
  return others
end

return M
