-- How what a chat uses follows its sources: members of live groups, tools that come late, fields that change without a
-- word. These functions are methods of `lathe.ToolRegistry`.
---@class lathe.ToolRegistry
local Updates = {}

local notify = require("lathe.notify")
local tool_set = require("lathe.tools.tool_set")
local tools = require("lathe.tools")

local hrtime = vim.uv.hrtime

-- How long one slice of bringing what is in use up to date may take.
local SLICE_NS = 3e6

---Takes note of what sources have changed.
function Updates:look()
  local generation = tools.snapshot(self._chat).generation
  if self._seen ~= generation then
    self._seen = generation
    self._generation = self._generation + 1
    for name in pairs(vim.tbl_extend("force", {}, self._awaited)) do
      if self:knows(name) then
        self._awaited[name] = nil
        local fault = self:use(name)
        if fault then
          notify.fault(fault, "warn")
        end
      end
    end
  end
end

---Gives a live group the members that it has now.
---@param self lathe.ToolRegistry
---@param group table
---@param until_ns number
---@return boolean done
local function refresh_group(self, group, until_ns)
  local now, listed = tools.group(group.name, self._chat)
  local is_member = {}
  for _, name in ipairs(now and now.tools or {}) do
    if listed and tools.is_member(name, listed, self._chat) then
      is_member[name] = true
      if not self.in_use[name] then
        if hrtime() > until_ns then
          return false
        elseif not self:add_tool(name) then
          group.tools[#group.tools + 1] = name
        end
      end
    end
  end
  group.system_prompt = now and now.system_prompt
  group.tools = vim.tbl_filter(function(name)
    if not is_member[name] then
      self:remove(name)
    end
    return is_member[name] or false
  end, group.tools)
  return true
end

---Brings live groups, and what changes in tools without a word, up to date, as far as time allows.
---@param until_ns number
---@param from integer? the tool to go on with
---@return integer? next the tool to go on with; nil: it is done
function Updates:refresh(until_ns, from)
  self:look()
  for _, name in ipairs(from and {} or vim.list_slice(self._group_order)) do
    local group = self.groups[name]
    if group and group.is_live and not refresh_group(self, group, until_ns) then
      return 0
    end
  end
  for i = math.max(from or 1, 1), #self._order do
    if hrtime() > until_ns then
      return i
    end
    local name = self._order[i]
    tools.refresh_tool(name, self._chat)
    if not self._hidden[name] and not tool_set.has(self, name, (self:find(name))) then
      self._generation = self._generation + 1
    end
  end
end

---Brings what is in use up to date for a request, in slices: hundreds of tools take longer than the editor may be held.
---@param done fun() called at once when it takes one slice
function Updates:gather(done)
  local from ---@type integer?
  local function go_on()
    local next_tool = self:refresh(hrtime() + SLICE_NS, from)
    if next_tool then
      from = next_tool > 0 and next_tool or nil
      return vim.defer_fn(go_on, 0)
    end
    done()
  end
  go_on()
end

---What the engine is offered with a request; made anew only when something changed.
---@return lathe.ToolSet
function Updates:offered()
  self:refresh(math.huge)
  return tool_set.make(self)
end

---Makes the list for a request, in slices.
---@param done fun() called at once when it takes one slice
function Updates:prepare(done)
  self:look()
  tool_set.prepare(self, done)
end

return Updates
