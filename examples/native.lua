-- A native server of your own beside the built-in one. Source it, then write `Use @{notes} …` or `#{mcp:notes://all}` in a
-- chat; `/mcp:review` makes a message. Nothing runs without asking.
local folder = vim.fs.joinpath(vim.fn.stdpath("data"), "notes")

require("lathe").setup({
  native = {
    servers = { neovim = true },
    settings = { notes = { autoApprove = { "list" } } },
  },
})

---@return string[]
local function notes()
  local names = {}
  for name, kind in vim.fs.dir(folder) do
    if kind == "file" then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

local native = require("lathe.native")

native.add_tool("notes", {
  name = "list",
  description = "Lists the notes",
  handler = function(_, res)
    return res:text(table.concat(notes(), "\n"))
  end,
})

native.add_tool("notes", {
  name = "add",
  description = "Writes a note; one of the same name is replaced",
  inputSchema = {
    type = "object",
    properties = {
      name = { type = "string", description = "letters, digits, _ and -" },
      text = { type = "string" },
    },
    required = { "name", "text" },
  },
  handler = function(req, res)
    local name, text = req.params.name, req.params.text
    if not name:find("^[%w_%-]+$") then
      return res:error("Only letters, digits, _ and - in a name", { name = name })
    end
    vim.fn.mkdir(folder, "p")
    vim.fn.writefile(vim.split(text, "\n"), vim.fs.joinpath(folder, name))
    return res:text("Written: " .. name)
  end,
})

native.add_resource("notes", {
  uri = "notes://all",
  description = "All notes",
  handler = function(_, res)
    for _, name in ipairs(notes()) do
      res:text(("# %s\n%s"):format(name, table.concat(vim.fn.readfile(vim.fs.joinpath(folder, name)), "\n")))
    end
    return res:send()
  end,
})

native.add_prompt("notes", {
  name = "review",
  description = "Asks for a review of the notes",
  arguments = { { name = "about", description = "what to look for", default = "mistakes" } },
  handler = function(req, res)
    return res:text(("Look through the notes for %s. Read notes://all first."):format(req.params.about))
  end,
})
