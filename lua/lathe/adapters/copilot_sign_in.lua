-- The sign-in to GitHub Copilot that its own programs keep: plugins of editors, the language server, the command line.
local M = {}

local env = require("lathe.adapters.env")
local faults = require("lathe.fault")

---@param path string
---@return table?
local function read(path)
  local file = io.open(path)
  local ok, content = pcall(vim.json.decode, file and file:read("*a") or "")
  if file then
    file:close()
  end
  return ok and type(content) == "table" and content or nil
end

---@param variable string
---@param default string beside the home
---@return string
local function folder(variable, default)
  local given = vim.env[variable] or ""
  return given ~= "" and given or vim.fs.joinpath(vim.uv.os_homedir() or "", default)
end

---What older plugins keep, by host.
---@param home string
---@return string?
local function of_plugins(home)
  for _, name in ipairs({ "hosts.json", "apps.json" }) do
    for host, entry in pairs(read(vim.fs.joinpath(home, "github-copilot", name)) or {}) do
      local token = type(entry) == "table" and entry.oauth_token
      if tostring(host):find("^github%.com") and type(token) == "string" then
        return token
      end
    end
  end
end

---What the command line keeps where there is no keychain, by host and user.
---@return string?
local function of_command_line()
  local config = read(vim.fs.joinpath(folder("COPILOT_HOME", ".copilot"), "config.json")) or {}
  for _, field in ipairs({ "copilot_tokens", "copilotTokens" }) do
    for host, token in pairs(type(config[field]) == "table" and config[field] or {}) do
      if tostring(host):find("github%.com", 1) and type(token) == "string" then
        return token
      end
    end
  end
end

-- The column is named for what is encrypted elsewhere: only a text of this form is a token.
local QUERY = "SELECT CAST(token_ciphertext AS TEXT) FROM oauth_tokens;"

---What the language server keeps, in a data base.
---@param path string
---@param done fun(token: string?, fault: string|lathe.Fault|nil)
local function of_data_base(path, done)
  if vim.fn.executable("sqlite3") == 0 then
    local text = "The sign-in to Copilot is in " .. path .. ", which only `sqlite3` can read: install it"
    return done(nil, faults.of_provider(text))
  end
  vim.system({ "sqlite3", "-readonly", path, QUERY }, { text = true, timeout = 5000 }, function(result)
    local token = (result.stdout or ""):match("gh[a-z]_[%w_]+")
    vim.schedule(function()
      done(
        token,
        not token and "the sign-in in " .. path .. " cannot be read: sign in again, or set COPILOT_GITHUB_TOKEN" or nil
      )
    end)
  end)
end

local NO_SIGN_IN =
  "No key for Copilot: sign in with copilot.vim or copilot.lua first (`:Copilot setup`, `:Copilot auth`)"

---Finds it.
---@param done fun(token: string?, fault: string|lathe.Fault|nil)
function M.find(done)
  local given = vim.env.COPILOT_GITHUB_TOKEN
  local home = folder("XDG_CONFIG_HOME", ".config")
  local token = given and given ~= "" and given or of_plugins(home) or of_command_line()
  if token then
    env.conceal({ token })
    return done(token)
  end
  local data_base = vim.fs.joinpath(home, "github-copilot", "auth.db")
  if vim.uv.fs_stat(data_base) then
    return of_data_base(data_base, done)
  end
  done(nil, faults.of_provider(NO_SIGN_IN))
end

return M
