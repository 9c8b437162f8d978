//! What it costs the main loop when a long saved chat comes back.

use crate::measure::Report;
use crate::support::{Editor, saved_chat};

/// A chat of 5,000 messages, on the screen.
pub fn run(report: &mut Report) {
    let editor = Editor::start();
    let folder = editor.home.path().join("state/nvim/lathe/chats");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("1-1-1.jsonl"), saved_chat(1250)).unwrap();
    // The first chat of an editor has a benchmark of its own.
    editor.lua("require('lathe').chat()");
    editor.wait_screen("## Me");
    editor.watch_loop();
    editor.lua("require('lathe').resume('1-1-1')");
    let chat = "require('lathe').last_chat()";
    editor.wait_lua(&format!("#{chat}.messages == 5000 and #{chat}.render.queue == 0"));
    report.gaps("5,000 saved messages come back", &editor.gaps());
}
