//! How a chat looks: folds, reasoning, facts beside the input, questions at any size, the window with all of a call, and that
//! neither cursor nor view of somebody who is elsewhere moves.

mod facts;
mod folds;
mod markdown;
mod questions;
mod views;

use crate::chat;
use crate::support::Editor;

/// `lines(n)`: a text of so many lines. `said(name, text)`: a tool that gives the text. `row_of(text)`: the line number of
/// the first line that holds it.
const HELPERS: &str = r#"
function lines(n)
  local list = {}
  for i = 1, n do list[i] = "line " .. i .. " of it" end
  return table.concat(list, "\n")
end
function said(name, text, extra)
  return tool(name, { function() return { status = "success", data = text } end }, extra)
end
function row_of(text)
  for i, line in ipairs(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false)) do
    if line:find(text, 1, true) then return i end
  end
end
function alone() vim.cmd("only") end
"#;

fn editor() -> Editor {
    let editor = chat::editor();
    editor.lua(HELPERS);
    editor
}

/// One that shows nothing but the chat.
fn opened(code: &str) -> Editor {
    let editor = editor();
    editor.lua(code);
    editor.lua("alone()");
    editor
}

/// The screen's line that holds the text.
#[track_caller]
fn line(editor: &Editor, text: &str) -> String {
    let screen = editor.screen();
    screen.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no {text:?}\n{screen}")).to_owned()
}
