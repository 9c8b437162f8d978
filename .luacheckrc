-- luacheck: what the Lua code may use. Formats are stylua's business.
std = "luajit"
globals = { "vim" }
codes = true
color = false
cache = false
-- A tool shows all of a callback's arguments, used or not: it is what an author copies.
unused_args = false
self = false
max_line_length = 120
-- Texts for the model and the user are not broken in the middle.
max_string_line_length = false
max_comment_line_length = 140
exclude_files = { ".deps", "target" }
-- Code of a test runs in an editor of its own, and its globals are how the test asks for results.
files["tests"] = { allow_defined = true, ignore = { "131" } }
