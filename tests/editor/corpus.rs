//! Tools and servers of other people's making, in the style of each generation and each way to register them: the files of
//! `tests/corpus/`, each run from the model's call to its result.

mod agents;
mod current;
mod extensions;
mod guards;
mod modules;
mod servers;
mod words;

use std::collections::BTreeSet;
use std::fs;

use crate::chat;
use crate::support::{Editor, Setup, repository};

/// `corpus(kind, name)` is what a file returns; `tool_of(name)` opens the tool of that file for `open`. `told` is what the user
/// was told, `asked` the questions so far.
const PRELUDE: &str = include_str!("corpus/prelude.lua");

fn editor() -> Editor {
    prepared(Setup::default().start())
}

fn prepared(editor: Editor) -> Editor {
    editor.lua(chat::PRELUDE);
    let root = repository().join("tests/corpus");
    editor.lua_with(PRELUDE, vec![root.to_str().unwrap().into()]);
    editor
}

/// An editor in which the names of the other plugins lead to ours.
fn compatible() -> Editor {
    let editor = editor();
    editor.lua("require('lathe.compat.codecompanion').enable() require('lathe.compat.mcphub').enable()");
    editor
}

/// Runs a claim without the compatibility modules and with them: the forms of tools do not depend on them.
fn either_way(claim: impl Fn(&Editor)) {
    claim(&editor());
    claim(&compatible());
}

impl Editor {
    /// Sends a message in a chat with these tools, whose model answers with these calls and then says "done".
    #[track_caller]
    fn play(&self, calls: &str, tools: &str) {
        self.lua(&format!("open({{ answer({calls}), {{ text = 'done' }} }}, {tools}) send('go')"));
    }

    /// The same, to the end of the turn: the results, after what must hold of every turn.
    #[track_caller]
    fn outcome(&self, calls: &str, tools: &str) -> Vec<String> {
        self.play(calls, tools);
        self.turn_over()
    }

    /// Waits for the end of the first turn.
    #[track_caller]
    fn turn_over(&self) -> Vec<String> {
        self.wait_ended(1);
        assert!(self.lua_bool("return paired()"), "each call has one result, in order");
        self.results()
    }

    /// What the user was told.
    #[track_caller]
    fn told_all(&self) -> String {
        // What is told is scheduled.
        self.lua("marked = false vim.schedule(function() vim.schedule(function() marked = true end) end)");
        self.wait_lua("marked");
        self.lua_text("return table.concat(told, '\\n')")
    }
}

/// The names of a folder's files.
fn names(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(repository().join("tests/corpus").join(folder)).unwrap();
    entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn every_file_of_the_corpus_is_run() {
    let mut sources = String::new();
    for entry in fs::read_dir(repository().join("tests/editor/corpus")).unwrap() {
        sources += &fs::read_to_string(entry.unwrap().path()).unwrap();
    }
    let (tools, extensions, servers) = (names("tools"), names("extensions"), names("servers"));
    assert!(tools.len() >= 30 && servers.len() >= 15, "{} tools, {} servers", tools.len(), servers.len());
    for name in tools.iter().chain(&extensions).chain(&servers) {
        let is_run = ["'", "\""].iter().any(|quote| sources.contains(&format!("{quote}{name}{quote}")));
        assert!(is_run, "no test runs {name}");
    }
}
