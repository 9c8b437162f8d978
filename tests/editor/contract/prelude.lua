-- An editor that remembers what the user is told, and the folder of a file of the document's examples in `fixtures`.
-- luacheck: globals example fixtures told

told = {}
vim.notify = function(text)
  told[#told + 1] = text
end
fixtures = ...
function example(name)
  return dofile(fixtures .. name .. ".lua")
end
