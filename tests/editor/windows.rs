//! Windows, tab pages and sessions: where a chat shows, what the user's own windows keep, and that nothing done to windows
//! and buffers breaks a chat or loses what is the user's.

mod closing;
mod elsewhere;
mod layouts;
mod sessions;

use crate::chat::PRELUDE;
use crate::support::{Editor, Setup};

/// `layout(name, opts)` sets lathe up with a layout; `answer`s come from `turns`. `widths()` are those of the windows.
const WORLD: &str = include_str!("windows/prelude.lua");

fn editor_of(width: u16, height: u16) -> Editor {
    let editor = Setup::default().size(width, height).start();
    editor.lua(PRELUDE);
    editor.lua(WORLD);
    editor
}

fn editor() -> Editor {
    editor_of(80, 24)
}

/// The names of the events of chats so far, without the prefix.
fn chat_events(editor: &Editor) -> String {
    editor.lua_text("return vim.iter(events):map(function(e) return e.name:match('^LatheChat(%a+)') end):join(' ')")
}
