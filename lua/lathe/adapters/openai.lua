-- OpenAI: by its responses, or by its chat completions where a model is older than those.

local facts = require("lathe.adapters.model_facts")
local reasoning = require("lathe.adapters.reasoning_models")

---Whether the chat's model is reached by responses: with tools, the newer ones refuse chat completions. A model with
---another name is that of a compatible server.
---@param self lathe.Adapter
---@return boolean
local function by_responses(self)
  return reasoning.is_one(reasoning.model_of(self))
end

---A setting that is called otherwise on the other wire.
---@param responses string? its place in the body
---@param completions string?
---@return table
local function setting(responses, completions)
  return {
    mapping = function(self)
      return by_responses(self) and responses or completions
    end,
    enabled = function(self)
      return (by_responses(self) and responses or completions) ~= nil
    end,
  }
end

---@type lathe.Adapter
return {
  name = "openai",
  formatted_name = "OpenAI",
  wire = function(self)
    return by_responses(self) and "openai_responses" or "openai"
  end,
  url = function(self)
    return by_responses(self) and "${url}/v1/responses" or "${url}/v1/chat/completions"
  end,
  env = { url = "https://api.openai.com", api_key = "OPENAI_API_KEY" },
  headers = { Authorization = "Bearer ${api_key}" },
  schema = {
    model = { default = facts.defaults.openai, mapping = "parameters" },
    reasoning_effort = setting("parameters.reasoning.effort", "parameters.reasoning_effort"),
    -- Organisations that are not verified get none.
    summary = setting("parameters.reasoning.summary"),
    verbosity = setting("parameters.text.verbosity", "parameters.verbosity"),
    temperature = { mapping = "parameters" },
    top_p = { mapping = "parameters" },
    max_completion_tokens = setting("parameters.max_output_tokens", "parameters.max_completion_tokens"),
    -- Nothing is kept there: the reasoning comes encrypted, and goes back as it came.
    store = vim.tbl_extend("force", setting("parameters.store"), { default = false }),
    include = vim.tbl_extend("force", setting("parameters.include"), { default = { "reasoning.encrypted_content" } }),
  },
  opts = { stream = true, vision = true },
  models = { url = "${url}/v1/models" },
  available_tools = {
    web_search = {
      description = "Lets the model search the web.",
      enabled = by_responses,
      callback = function(_, meta)
        table.insert(meta.tools, { type = "web_search" })
      end,
    },
  },
}
