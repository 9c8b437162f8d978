-- Lint settings for luacheck (`make lint`).
std = "luajit"
read_globals = { "vim" }
globals = { "vim.g", "vim.b", "vim.o", "vim.bo", "vim.wo", "vim.opt" }
max_line_length = 120
max_code_line_length = 120
exclude_files = { "target", ".deps" }
-- The seed's calculator declares the parameters that it does not use.
files["examples/calculator.lua"] = { ignore = { "212" } }
-- A metatable's methods take `self` whether they use it or not.
self = false
-- Signatures of the library are one line each.
files["lua/lathe/types.lua"] = { max_line_length = 200, max_comment_line_length = 200 }
