//! The map that `src/lib.rs` draws: which Rust files may know of which others.

use super::files;
use super::rust_circles::rust_graph;

/// The layers, the highest first. A file belongs to the first one that names a beginning of its path.
const LAYERS: &[&[&str]] = &[
    &["src/bridge"],
    &["src/runtime"],
    &["src/engine.rs"],
    &["src/engine/saved"],
    &["src/engine/chat"],
    &["src/engine/turn"],
    &["src/engine/call"],
    &["src/engine/effect.rs"],
    &["src/engine/event.rs"],
    &["src/engine/restore.rs"],
    &["src/"],
];

fn layer(path: &str) -> usize {
    let found = LAYERS.iter().position(|names| names.iter().any(|name| path.starts_with(name)));
    found.unwrap_or(LAYERS.len())
}

/// The uses that lead upwards, or from the pure modules into the engine.
fn upwards(sources: &[(String, String)]) -> Vec<String> {
    let graph = rust_graph(sources);
    let uses = graph.iter().flat_map(|(file, used)| used.iter().map(move |other| (file, other)));
    uses.filter(|(file, other)| layer(file) > layer(other)).map(|(file, other)| format!("{file} -> {other}")).collect()
}

#[test]
fn rust_files_know_nothing_of_the_layers_above_them() {
    let found = upwards(&files(&["src"], &[".rs"]));
    assert!(found.is_empty(), "arrows of `src/lib.rs` run down: {found:#?}");
}

#[test]
fn an_arrow_that_runs_up_is_found() {
    let sources = |code: &str| {
        [
            ("src/lib.rs", "mod engine; mod gate; mod runtime;"),
            ("src/engine.rs", "mod call; mod chat; mod event;"),
            ("src/engine/call.rs", code),
            ("src/engine/chat.rs", "use super::call::Call; use crate::gate::Verdict;"),
            ("src/engine/event.rs", ""),
            ("src/gate.rs", ""),
            ("src/runtime.rs", "use crate::engine::event::Event;"),
        ]
        .map(|(path, code)| (path.to_string(), code.to_string()))
    };
    let none: [&str; 0] = [];
    assert_eq!(upwards(&sources("use crate::engine::event::Event; use crate::gate::Verdict;")), none);
    for (code, above) in
        [("use super::chat::Chat;", "src/engine/chat.rs"), ("fn f() { crate::runtime::now_ms() }", "src/runtime.rs")]
    {
        assert_eq!(upwards(&sources(code)), [format!("src/engine/call.rs -> {above}")]);
    }
}
