-- The offline provider: it plays turns that were written down, for demos and for a tool author's own tests.

---@param turn any
---@return string? json
---@return string? message
local function encode(turn)
  if type(turn) ~= "table" then
    return nil, "a turn must be a table, got " .. type(turn)
  end
  local given = turn.tool_calls
  if type(given) == "table" and (given[1] ~= nil or next(given) == nil) then
    -- The author's tables stay as they are. Only what changes is copied: a turn may hold thousands of calls.
    turn = vim.tbl_extend("force", turn, {})
    turn.tool_calls = given[1] ~= nil and {} or nil -- Lua cannot tell an empty list from an empty object
    for i, call in ipairs(given) do
      local arguments = type(call) == "table" and call.arguments
      if type(call) == "table" and (arguments == nil or (type(arguments) == "table" and next(arguments) == nil)) then
        call = vim.tbl_extend("force", call, { arguments = vim.empty_dict() })
      end
      turn.tool_calls[i] = call
    end
  end
  if next(turn) == nil then
    turn = vim.empty_dict()
  end
  local ok, json = pcall(vim.json.encode, turn)
  if not ok then
    return nil, "a turn is not JSON: " .. tostring(json)
  end
  return json
end

---@type lathe.Adapter
return {
  name = "scripted",
  formatted_name = "Scripted",
  wire = "scripted",
  -- A list of turns, or a function(messages) that returns the next one. A turn: { text?, reasoning?, tool_calls?,
  -- error?, status?, delay_ms?, usage?, chunks?, hang? }.
  turns = {},
  handlers = {
    request = {
      ---The next turn. `self` is the chat's own copy of the adapter.
      ---@param self lathe.Adapter
      ---@param messages lathe.Message[]
      ---@return table? fields of `core.start_request`
      ---@return string? message
      build = function(self, messages)
        local turn
        if type(self.turns) == "function" then
          local ok, answer = pcall(self.turns, messages)
          if not ok then
            return nil, "turns failed: " .. (type(answer) == "string" and answer or vim.inspect(answer))
          elseif answer == nil then
            return nil, "turns gave no further turn"
          end
          turn = answer
        else
          self.position = (self.position or 0) + 1
          turn = self.turns[self.position]
          if turn == nil then
            return nil, ("there is no turn %d: the script has %d"):format(self.position, #self.turns)
          end
        end
        local json, message = encode(turn)
        if not json then
          return nil, message
        end
        return { wire = "scripted", turn = json }
      end,
    },
  },
}
