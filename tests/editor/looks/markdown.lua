-- What looks/markdown.rs runs in its editor.
-- luacheck: globals captures mentioned

local M = {}

function M.hostile_marks()
  open({
    { text = "text **bold** one", tool_calls = { { name = "t", arguments = { x = "```\n<!-- never closed" } } } },
    { text = "then **bold** two" },
  }, {
    t = said("t", "```lua\nnever closed <!-- and <div>\n## Not a heading", {
      opts = { require_approval_before = true },
      output = {
        cmd_string = function()
          return "``` <!--"
        end,
      },
    }),
  })
  send("go")
  function captures(text, col)
    local row = row_of(text) - 1
    local names = {}
    local parser = vim.treesitter.get_parser(chat.bufnr)
    parser:parse(true)
    for _, c in ipairs(vim.treesitter.get_captures_at_pos(chat.bufnr, row, col)) do
      names[#names + 1] = c.capture
    end
    return " " .. table.concat(names, " ") .. " "
  end
end

function M.headings()
  local parser, found = vim.treesitter.get_parser(chat.bufnr, "markdown"), {}
  parser:parse(true)
  local query = vim.treesitter.query.parse("markdown", "(atx_heading) @h")
  parser:for_each_tree(function(tree, part)
    if part:lang() == "markdown" then
      for _, node in query:iter_captures(tree:root(), chat.bufnr) do
        found[#found + 1] = vim.split(vim.treesitter.get_node_text(node, chat.bufnr), "\n")[1]
      end
    end
  end)
  table.sort(found)
  return table.concat(found, ", ")
end

function M.mentioned()
  open({ { text = "use @{t} and #{buffer}" } }, { t = said("t", "x") })
  function mentioned(text)
    local row, found = row_of(text) - 1, {}
    local ns = vim.api.nvim_create_namespace("lathe.mention")
    for _, m in ipairs(vim.api.nvim_buf_get_extmarks(chat.bufnr, ns, { row, 0 }, { row, -1 }, { details = true })) do
      found[#found + 1] = vim.api.nvim_buf_get_text(chat.bufnr, row, m[3], row, m[4].end_col, {})[1]
    end
    return table.concat(found, " ")
  end
end

return M
