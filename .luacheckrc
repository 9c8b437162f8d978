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
-- Code of a test runs in an editor of its own. What it leaves in globals for the test to ask is named at the top of its
-- file; what the preludes give to all files of a folder is named here.
files["tests"] = {
  read_globals = {
    "answer",
    "chat",
    "count",
    "ended",
    "events",
    "open",
    "paired",
    "results",
    "send",
    "tool",
  },
}
files["tests/editor/looks"] = { read_globals = { "alone", "lines", "row_of", "said" } }
files["tests/editor/input"] = { read_globals = { "file", "got", "seen", "told", "words", "world" } }
files["tests/editor/windows"] = { read_globals = { "finish", "hanging", "layout", "names", "told", "widths" } }
files["tests/editor/auto"] = { read_globals = { "asked", "gated", "ran", "told" } }
files["tests/editor/native"] = {
  read_globals = {
    "approve",
    "call",
    "called",
    "err",
    "greet",
    "greeted",
    "log",
    "native",
    "response",
    "serve",
    "started",
    "texts",
    "told",
    "use",
  },
}
files["tests/editor/contract"] = { read_globals = { "example", "fixtures", "told" } }
files["tests/editor/resume"] = { read_globals = { "connect", "last", "notes", "roles" } }
files["tests/editor/corpus"] = {
  read_globals = { "asked", "corpus", "is_asking", "one", "shown", "statuses", "told" },
}
