-- What is known of models without asking their providers: which one a chat begins with, and what the lists of some
-- providers do not tell. Prices are in US dollars for a million tokens. Change the date with the rest.
local M = {}

M.date = "2026-12-01"

---The model of an adapter whose user names none.
---@type table<string, string>
M.defaults = {
  anthropic = "claude-opus-5-5",
  cerebras = "gpt-oss-120b",
  copilot = "gpt-5.4-mini",
  deepinfra = "deepseek-ai/DeepSeek-V4-Pro",
  deepseek = "deepseek-v4-pro",
  gemini = "gemini-flash-latest",
  groq = "openai/gpt-oss-120b",
  huggingface = "openai/gpt-oss-120b",
  mistral = "mistral-large-latest",
  moonshot = "kimi-k2.6",
  novita = "deepseek/deepseek-v4-pro",
  openai = "gpt-5.5",
  openrouter = "openrouter/auto",
  vertex = "gemini-flash-latest",
  xai = "grok-4.5",
  z_ai = "glm-5.2",
}

---@class lathe.ModelFacts
---@field context? integer tokens that one request and its answer may have
---@field output? integer tokens that one answer may have
---@field pictures? boolean whether it takes pictures
---@field price? { input: number, output: number } dollars for a million tokens
---@field price_class? 1|2|3|4 from cheap to dear, by the price of what it writes

-- The first pattern that a name begins with counts; a provider's name before a slash does not.
---@type { [1]: string, [2]: lathe.ModelFacts }[]
local known = {
  { "gpt%-5%.5", { context = 1050000, output = 128000, pictures = true, price = { input = 5, output = 30 } } },
  { "gpt%-[5-9]", { pictures = true, output = 128000 } },
  { "gpt%-4%.1", { context = 1047576, output = 32768, pictures = true } },
  { "gpt%-4o", { context = 128000, output = 16384, pictures = true } },
  { "gpt%-oss", { context = 131072, pictures = false } },
  { "o[134]", { context = 200000, output = 100000, pictures = true } },
  { "claude", { pictures = true } },
  { "gemini", { context = 1048576, output = 65536, pictures = true } },
  { "deepseek%-v4", { context = 1000000, output = 384000, pictures = false } },
  { "deepseek", { context = 128000, pictures = false } },
  { "grok%-4%.5", { context = 500000, pictures = true } },
  { "grok%-4%.[23]", { context = 1000000, pictures = true } },
  { "kimi%-k2%.[5-9]", { context = 262144, pictures = true } },
  { "kimi", { context = 262144 } },
  { "glm%-5", { pictures = false } },
  { "glm%-4%.[67]", { context = 204800, pictures = false } },
}

---By what a million tokens that it writes cost.
---@param price { input: number, output: number }?
---@return 1|2|3|4|nil
function M.price_class(price)
  local output = price and price.output
  if not output then
    return nil
  end
  return output < 1 and 1 or output < 5 and 2 or output < 20 and 3 or 4
end

---What the table above says.
---@param model string
---@return lathe.ModelFacts
function M.of(model)
  local name = model:lower():gsub("^.*/", "")
  for _, entry in ipairs(known) do
    if name:find("^" .. entry[1]) then
      local facts = vim.deepcopy(entry[2])
      facts.price_class = M.price_class(facts.price)
      return facts
    end
  end
  return {}
end

return M
