-- Google's models on Vertex AI. `env.project` is yours; the key is a token of `gcloud`, made anew before it ends.

local env = require("lathe.adapters.env")
local facts = require("lathe.adapters.model_facts")
local gemini = require("lathe.adapters.gemini_models")

-- A token lasts an hour.
local KEPT_S = 45 * 60

---@type table<string, { token: string, ends: integer }> by the command that makes it
local tokens = {}

---@type lathe.Adapter
return {
  name = "vertex",
  formatted_name = "Vertex AI",
  wire = "gemini",
  url = "${url}/v1/projects/${project}/locations/${location}/publishers/google/models/"
    .. "${model}:streamGenerateContent?alt=sse",
  env = {
    url = "https://aiplatform.googleapis.com",
    -- No key: commands may see it.
    project = function()
      return vim.env.GOOGLE_CLOUD_PROJECT
    end,
    location = "global",
    token_command = "gcloud auth print-access-token",
  },
  headers = { Authorization = "Bearer ${access_token}" },
  schema = {
    model = { default = facts.defaults.vertex, mapping = "parameters" },
    includeThoughts = {
      default = true,
      mapping = "parameters.generationConfig.thinkingConfig",
      enabled = gemini.thinks,
    },
    thinkingBudget = { mapping = "parameters.generationConfig.thinkingConfig" },
    thinkingLevel = { mapping = "parameters.generationConfig.thinkingConfig" },
    maxOutputTokens = { mapping = "parameters.generationConfig" },
    temperature = { mapping = "parameters.generationConfig" },
    topP = { mapping = "parameters.generationConfig" },
    topK = { mapping = "parameters.generationConfig" },
  },
  opts = { stream = true, vision = true },
  handlers = {
    lifecycle = { setup = gemini.set_up },
    request = {
      ---Has a token made.
      ---@param self lathe.Adapter
      ---@param done fun(values: table<string, string>?, message: string?)
      ---@param waiting lathe.KeyWaiting
      prepare = function(self, done, waiting)
        local command, project =
          self.env.token_command, --[[@as string]]
          self.env.project
        project = type(project) == "function" and project(self) or project
        if not project or project == "" or type(project) == "function" then
          return done(nil, "no project: set GOOGLE_CLOUD_PROJECT or adapters.http.vertex.env.project")
        end
        local known = tokens[command]
        if known and known.ends > os.time() then
          return done({ access_token = known.token })
        end
        env.run(command, waiting, function(token, message)
          if not token then
            return done(nil, ("`%s` gave no token: %s"):format(command, message or "it printed nothing"))
          end
          tokens[command] = { token = token, ends = os.time() + KEPT_S }
          done({ access_token = token })
        end)
      end,
    },
  },
}
