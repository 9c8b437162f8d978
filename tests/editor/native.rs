//! Native servers in a real Neovim, by the ids of their rules and examples. What is pure is tested in `src/native/`.

mod api;
mod calls;
mod gate;
mod listing;
mod media;
mod resources;
mod scale;
mod seed;
mod server;

use crate::chat;
use crate::support::{Editor, Setup};

/// `handlers` are registered as tools of a server, `serve(server, tool, handler, extra)` registers one; `use(turns, names,
/// native)` opens a chat with a scripted provider, `call(server, tool, args)` calls one and keeps `response` and `err`.
const PRELUDE: &str = include_str!("native/prelude.lua");

fn editor() -> Editor {
    prepared(Setup::default().start())
}

fn debugging() -> Editor {
    prepared(Setup::default().env("LATHE_LOG", "debug").start())
}

fn prepared(editor: Editor) -> Editor {
    editor.lua(chat::PRELUDE);
    editor.lua(PRELUDE);
    editor
}

impl Editor {
    /// Waits for the answer of `call`.
    #[track_caller]
    fn wait_called(&self) {
        self.wait_lua("called > 0");
    }

    /// What the user was told.
    #[track_caller]
    fn told(&self) -> String {
        self.lua_text("return table.concat(told, '\\n---\\n')")
    }
}
