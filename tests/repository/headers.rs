//! What a reader sees first of a file: the sentence that says its one job.

use super::{NOBODY, files};

/// Every file of code that is ours.
fn sources() -> Vec<(String, String)> {
    let all = files(&["src", "lua", "plugin", "tests", "benches", "examples"], &[".rs", ".lua"]);
    all.into_iter().filter(|(path, _)| !path.starts_with("tests/fixtures/")).collect()
}

/// The comment at the top of a file, as one line.
fn header(path: &str, text: &str) -> String {
    let marker = if path.ends_with(".rs") { "//!" } else { "--" };
    let lines = text.lines().skip_while(|line| *line == "---@meta" || line.starts_with("#!"));
    let lines = lines.map_while(|line| line.strip_prefix(marker)).filter(|line| !line.starts_with('-'));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Whether a text begins with a sentence of some words.
fn is_sentence(text: &str) -> bool {
    let first = text.split_inclusive(['.', '?']).next().unwrap_or_default();
    first.ends_with('.') && text.split_whitespace().count() >= 3
}

#[test]
fn every_file_opens_with_a_sentence_that_says_its_job() {
    // What an adapter's file is for is the name of its provider.
    let is_provider = |path: &str| path.starts_with("lua/lathe/adapters/");
    let silent: Vec<String> = sources()
        .into_iter()
        .filter(|(path, text)| match header(path, text) {
            header if is_provider(path) => !header.ends_with('.'),
            header => !is_sentence(&header),
        })
        .map(|(path, _)| path)
        .collect();
    assert_eq!(silent, NOBODY, "a file opens with one sentence that says its one job");
}

#[test]
fn a_file_without_its_sentence_would_be_found() {
    for (path, text) in [
        ("a.lua", "local M = {}\n-- Too late to be a header.\n"),
        ("a.lua", "---@meta\nlocal M = {}\n"),
        ("a.lua", "-- Chats.\nlocal M = {}\n"),
        ("a.lua", "-- no end to this\nlocal M = {}\n"),
        ("a.rs", "// A comment, not a header.\n"),
    ] {
        assert!(!is_sentence(&header(path, text)), "{text}");
    }
    for (path, text) in [
        ("a.lua", "-- What is told\n-- of a chat.\nlocal M = {}\n"),
        ("a.lua", "---@meta\n-- Types of the library.\n"),
        ("a.rs", "//! One call of a tool.\n\nuse x;\n"),
    ] {
        assert!(is_sentence(&header(path, text)), "{text}");
    }
}
