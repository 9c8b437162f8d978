-- `corpus(kind, name)` is what a file returns; `tool_of(name)` opens the tool of that file for `open`. `told` is what the user
-- was told, `asked` the questions so far.
-- luacheck: globals asked corpus is_asking one shown statuses told

local root = ...
told, asked = {}, {}
vim.notify = function(text)
  told[#told + 1] = text
end
function corpus(kind, name)
  return dofile(("%s/%s/%s.lua"):format(root, kind, name))
end
function one(name, ...)
  local tool = corpus("tools", name)
  return { [name] = type(tool) == "function" and tool(...) or tool }
end
function shown()
  return table.concat(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false), "\n")
end
function is_asking()
  local question = chat.questions[1]
  return question ~= nil and (question.is_seen or chat.render:is_written(question.call.block)) and true or false
end
function statuses()
  local list = {}
  for _, event in ipairs(events) do
    if event.name == "LatheToolFinished" then
      list[#list + 1] = event.data.status
    end
  end
  return table.concat(list, " ")
end
