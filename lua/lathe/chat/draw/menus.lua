-- Menus of other plugins. Neovim's own menu is asked for with `pumvisible()`.
local M = {}

local api = vim.api

-- How plugins say that their menu is open.
local plugins = {
  cmp = function(plugin)
    return plugin.visible()
  end,
  ["blink.cmp"] = function(plugin)
    return plugin.is_menu_visible()
  end,
  ["care"] = function(plugin)
    return plugin.api.is_open()
  end,
}

-- The functions of plugins that are written in Vim script, by name.
local functions = { "coc#pum#visible", "pum#visible" }

---Whether a plugin that is known says so.
---@return boolean
function M.is_open()
  for name, is_open in pairs(plugins) do
    local plugin = package.loaded[name]
    local ok, open = pcall(function()
      return plugin and is_open(plugin)
    end)
    if ok and open and open ~= 0 then
      return true
    end
  end
  for _, name in ipairs(functions) do
    if vim.fn.exists("*" .. name) == 1 and vim.fn[name]() == 1 then
      return true
    end
  end
  return false
end

---Whether a floating window touches the line of the cursor, as the menu of any plugin does.
---@return boolean
function M.is_float_at_cursor()
  local current = api.nvim_get_current_win()
  local cursor = vim.fn.screenpos(current, vim.fn.line("."), vim.fn.col("."))
  if cursor.row == 0 then
    return false
  end
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local config = win ~= current and api.nvim_win_get_config(win) or {}
    if config.relative and config.relative ~= "" and not config.hide then
      local row, col = unpack(api.nvim_win_get_position(win))
      local info = vim.fn.getwininfo(win)[1]
      -- Screen rows count from 1, and a border takes one at each side.
      local first, last = row, row + info.height + 3
      if first <= cursor.row + 1 and cursor.row - 1 <= last and col <= cursor.col + 1 then
        return true
      end
    end
  end
  return false
end

return M
