//! The Lua that tests and benches run in their editors stands in files, which are formatted and linted; what is a line or
//! two may stand where it is sent.

use std::collections::{BTreeMap, BTreeSet};

use crate::tokens::{Token, lua_tokens, rust_tokens};
use crate::{NOBODY, files};

/// More of it is a file's.
const MAX_LINES: usize = 3;
const MAX_BYTES: usize = 240;

/// Those of `Editor` and of its tests that take the name of a function beside them.
const RUNNERS: [&str; 4] = ["run", "run_with", "script", "opened_by"];

fn is_lua(text: &str) -> bool {
    let is_sign = |pair: &[Token<'_>]| match pair {
        [Token::Word("function"), next] => matches!(next, Token::Sign('(') | Token::Word(_)),
        [Token::Word("local"), next] => matches!(next, Token::Word(_)),
        [Token::Word("vim"), next] => *next == Token::Sign('.'),
        [Token::Word("open" | "send" | "require" | "setup"), next] => matches!(next, Token::Sign('(') | Token::Text(_)),
        _ => false,
    };
    lua_tokens(text).windows(2).any(is_sign)
}

/// Whether a text of Rust is Lua that should stand in a file.
fn is_long_lua(text: &str) -> bool {
    let lines = text.trim().lines().count();
    (lines > MAX_LINES || text.len() > MAX_BYTES) && is_lua(text)
}

fn tests() -> Vec<(String, String)> {
    let mut sources = files(&["tests", "benches"], &[".rs"]);
    sources.retain(|(path, _)| !path.starts_with("tests/repository"));
    sources
}

#[test]
fn lua_of_more_than_three_lines_stands_in_a_file() {
    let mut long = Vec::new();
    for (path, code) in tests() {
        for token in rust_tokens(&code) {
            if let Token::Text(text) = token
                && is_long_lua(text)
            {
                let begin: String = text.trim().chars().take(60).collect();
                long.push(format!("{path}: {begin}"));
            }
        }
    }
    assert_eq!(long, NOBODY, "put it into a function of the .lua file beside, and run it by its name");
}

#[test]
fn every_function_beside_a_test_is_run_and_every_one_that_is_run_is_there() {
    let mut named = BTreeMap::new();
    for (path, code) in tests() {
        let tokens = rust_tokens(&code);
        let runs = tokens.windows(3).filter_map(|three| match three {
            [Token::Word(word), Token::Sign('('), Token::Text(name)] if RUNNERS.contains(word) => {
                Some((*name).to_owned())
            }
            _ => None,
        });
        named.insert(path, runs.collect::<BTreeSet<String>>());
    }
    let mut wrong = Vec::new();
    for (path, names) in &named {
        let beside = path.replace(".rs", ".lua");
        let code = std::fs::read_to_string(crate::root().join(&beside)).unwrap_or_default();
        let tokens = lua_tokens(&code);
        let of_file = |four: &[Token<'_>]| match four {
            [Token::Word("M"), Token::Sign('.'), Token::Word(name)] => Some((*name).to_owned()),
            _ => None,
        };
        let mut made = BTreeSet::new();
        let mut called = names.clone();
        for (at, three) in tokens.windows(3).enumerate() {
            let Some(name) = of_file(three) else { continue };
            let is_made = at > 0 && tokens[at - 1] == Token::Word("function");
            if is_made {
                made.insert(name)
            } else {
                called.insert(name)
            };
        }
        wrong.extend(made.difference(&called).map(|name| format!("{beside}: {name} is not run")));
        wrong.extend(names.difference(&made).map(|name| format!("{beside}: there is no {name}")));
    }
    assert_eq!(wrong, NOBODY);
}

#[test]
fn lua_is_told_from_other_long_texts() {
    let long = "-- a\n-- b\n-- c\n";
    for (text, lua) in [
        ("local x = 1", true),
        ("open({}, {})\nsend('go')", true),
        ("vim.cmd('edit')", true),
        ("local function x() end", true),
        ("{ \"type\": \"function\" }", false),
        ("function! s:note(name) abort", false),
        ("if [ -n x ]; then echo function; fi", false),
        ("data: {}\n", false),
    ] {
        assert_eq!(is_long_lua(&format!("{long}{text}")), lua, "{text}");
        assert!(!is_long_lua(text), "{text}");
    }
}
