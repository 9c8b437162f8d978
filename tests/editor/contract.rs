//! The promises of CodeCompanion's document on tools, each as a test named `cc_<area>_<claim>`; `doc/contract.md` lists them.
//! What is lathe's own beside them has other names.

mod calls;
mod cmd_tool;
mod compat;
mod examples;
mod output;
mod prompts;
mod provider;
mod stress;
mod tools;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::chat;
use crate::support::server::Server;
use crate::support::{Editor, Setup, repository};

/// An editor that remembers what the user is told, and the folder of a file of the document's examples in `fixtures`.
const LISTEN: &str = include_str!("contract/prelude.lua");

fn listen(editor: &Editor) {
    let fixtures = repository().join("tests/fixtures/codecompanion/");
    editor.lua_with(LISTEN, vec![fixtures.to_str().unwrap().into()]);
}

fn editor() -> Editor {
    let editor = chat::editor();
    listen(&editor);
    editor
}

/// An editor with a program of that name, which is this shell script, before all others on PATH. It finds its home in `$HOME`.
fn editor_with_program(name: &str, script: &str) -> (Editor, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let editor = Setup::default().env("PATH", path).start();
    editor.lua(chat::PRELUDE);
    listen(&editor);
    (editor, folder)
}

/// Types a message into the chat and sends it.
fn type_and_send(editor: &Editor, text: &str) {
    editor.input("<Esc>Go");
    editor.input(text);
    editor.input("<Esc><CR>");
}

/// Opens a chat that talks to the server, with these tools and more of the adapter, both as Lua.
fn connect(editor: &Editor, server: &Server, tools: &str, adapter: &str) {
    editor.run_with("connect", vec![server.url.as_str().into(), tools.into(), adapter.into()]);
}
