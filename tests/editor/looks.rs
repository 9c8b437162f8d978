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
const HELPERS: &str = include_str!("looks/prelude.lua");

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

/// Like [`opened`], for a function of the caller's Lua file.
#[track_caller]
fn opened_by(function: &str) -> Editor {
    let editor = editor();
    editor.run(function);
    editor.lua("alone()");
    editor
}

/// The screen's line that holds the text.
#[track_caller]
fn line(editor: &Editor, text: &str) -> String {
    let screen = editor.screen();
    screen.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no {text:?}\n{screen}")).to_owned()
}
