-- GitHub Copilot: the sign-in that its own plugins keep is exchanged for a token of half an hour.

local faults = require("lathe.fault")
local request = require("lathe.adapters.request")

local NO_SIGN_IN =
  "No key for Copilot: sign in with copilot.vim or copilot.lua first (`:Copilot setup`, `:Copilot auth`)"

-- Renewed when so little is left.
local MARGIN_S = 60

---@type table<string, { token: string, url: string, ends: integer }> by the sign-in
local tokens = {}

---The sign-in of a plugin of Copilot's.
---@return string?
local function sign_in()
  local home = vim.env.XDG_CONFIG_HOME or ""
  home = home ~= "" and home or vim.fs.joinpath(vim.uv.os_homedir() or "", ".config")
  for _, name in ipairs({ "hosts.json", "apps.json" }) do
    local file = io.open(vim.fs.joinpath(home, "github-copilot", name))
    local ok, entries = pcall(vim.json.decode, file and file:read("*a") or "")
    if file then
      file:close()
    end
    for host, entry in pairs(ok and type(entries) == "table" and entries or {}) do
      local token = type(entry) == "table" and entry.oauth_token
      if tostring(host):find("^github%.com") and type(token) == "string" then
        return token
      end
    end
  end
end

---@type lathe.Adapter
return {
  name = "copilot",
  formatted_name = "Copilot",
  wire = "openai",
  url = "${api}/chat/completions",
  env = { token_url = "https://api.github.com/copilot_internal/v2/token" },
  headers = {
    Authorization = "Bearer ${api_key}",
    ["Copilot-Integration-Id"] = "vscode-chat",
    ["Editor-Version"] = "Neovim/" .. tostring(vim.version()):gsub("[^%w%.].*", ""),
  },
  dialect = { keep = { "reasoning_text", "reasoning_opaque" } },
  schema = {
    model = { default = "gpt-5-mini", mapping = "parameters" },
    temperature = { mapping = "parameters" },
    top_p = { mapping = "parameters" },
    max_tokens = { mapping = "parameters" },
  },
  opts = { stream = true, vision = true },
  models = { url = "${api}/models" },
  handlers = {
    request = {
      ---Exchanges the sign-in.
      ---@param self lathe.Adapter
      ---@param done fun(values: table<string, string>?, message: string?)
      prepare = function(self, done)
        local own = sign_in()
        if not own then
          return done(nil, faults.of_provider(NO_SIGN_IN))
        end
        local known = tokens[own]
        if known and known.ends - MARGIN_S > os.time() then
          return done({ api_key = known.token, api = known.url })
        end
        local headers = { Authorization = "token " .. own, Accept = "application/json" }
        request.fetch(self, self.env.token_url, headers, function(answer, message)
          if not answer or type(answer.token) ~= "string" then
            return done(nil, "the token could not be renewed: " .. (message or "the answer holds none"))
          end
          local url = vim.tbl_get(answer, "endpoints", "api") or "https://api.githubcopilot.com"
          tokens[own] = { token = answer.token, url = url, ends = tonumber(answer.expires_at) or 0 }
          done({ api_key = answer.token, api = url })
        end)
      end,
    },
  },
}
