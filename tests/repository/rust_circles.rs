//! No circle between Rust files.

use std::collections::BTreeMap;

use super::circles::{Graph, assert_no_circle, circle};
use super::files;
use super::tokens::{Token, rust_tokens};

/// The module that a Rust file is, as the names on the way to it.
fn rust_module(path: &str) -> Vec<&str> {
    let name = path.trim_start_matches("src/").trim_end_matches(".rs");
    if name == "lib" { Vec::new() } else { name.split('/').collect() }
}

/// The end of the item that begins at a token: its `;`, or the brace that closes its body.
fn item_end(tokens: &[Token], from: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(from) {
        match token {
            Token::Sign('{' | '(' | '[') => depth += 1,
            Token::Sign('}' | ')' | ']') => depth -= 1,
            _ => {}
        }
        if depth == 0 && matches!(token, Token::Sign(';' | '}')) {
            return i + 1;
        }
    }
    tokens.len()
}

/// Without the items that only tests have.
fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    const ATTRIBUTE: [Token; 7] = [
        Token::Sign('#'),
        Token::Sign('['),
        Token::Word("cfg"),
        Token::Sign('('),
        Token::Word("test"),
        Token::Sign(')'),
        Token::Sign(']'),
    ];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at..].starts_with(&ATTRIBUTE) {
            at = item_end(tokens, at + ATTRIBUTE.len());
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    kept
}

/// The paths of a `use`, or the path of an expression: all that begins at a token. The second is where it ends.
fn paths<'a>(tokens: &[Token<'a>], mut at: usize, before: &[&'a str], found: &mut Vec<Vec<&'a str>>) -> usize {
    let mut path = before.to_vec();
    loop {
        match tokens.get(at) {
            Some(Token::Word(word)) => path.push(word),
            Some(Token::Sign('{')) => {
                at += 1;
                while !matches!(tokens.get(at), None | Some(Token::Sign('}'))) {
                    at = paths(tokens, at, &path, found);
                    // `as name` and the comma
                    while matches!(tokens.get(at), Some(Token::Word(_) | Token::Sign(','))) {
                        let is_comma = tokens[at] == Token::Sign(',');
                        at += 1;
                        if is_comma {
                            break;
                        }
                    }
                }
                return at + 1;
            }
            _ => {
                found.push(path);
                return at + 1; // `*`
            }
        }
        at += 1;
        if tokens[at.min(tokens.len())..].starts_with(&[Token::Sign(':'), Token::Sign(':')]) {
            at += 2;
        } else {
            found.push(path);
            return at;
        }
    }
}

/// What the files of a crate are, and what each has imported under which name.
struct Crate<'a> {
    files: BTreeMap<Vec<&'a str>, &'a str>,
    imports: BTreeMap<(Vec<&'a str>, &'a str), Vec<&'a str>>,
}

/// A path from the root of the crate. None: it leads out of it.
fn absolute<'a>(
    path: &[&'a str],
    own: &[&'a str],
    inner: &[&'a str],
    files: &BTreeMap<Vec<&'a str>, &str>,
) -> Option<Vec<&'a str>> {
    let mut absolute = match *path.first()? {
        "crate" => Vec::new(),
        "self" | "super" => inner.to_vec(),
        name => {
            // A module that this file declares.
            let child = [own, &[name]].concat();
            files.get(&child)?;
            own.to_vec()
        }
    };
    for segment in path {
        match *segment {
            "crate" | "self" => {}
            "super" => drop(absolute.pop()),
            name => absolute.push(name),
        }
    }
    Some(absolute)
}

/// Calls `found` with the absolute paths that a file names; the second says whether it imports them.
fn each_path<'a>(
    path: &'a str,
    tokens: &[Token<'a>],
    files: &BTreeMap<Vec<&'a str>, &str>,
    mut found: impl FnMut(Vec<&'a str>, bool),
) {
    let own = rust_module(path);
    let mut inner = own.clone();
    let mut depths = Vec::new(); // where the modules begin that are written in this file
    let mut depth = 0;
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at] {
            Token::Sign('{') => depth += 1,
            Token::Sign('}') => {
                depth -= 1;
                if depths.last() == Some(&depth) {
                    depths.pop();
                    inner.pop();
                }
            }
            Token::Word("mod") => {
                if let [Token::Word(name), Token::Sign('{'), ..] = &tokens[at + 1..] {
                    inner.push(name);
                    depths.push(depth);
                }
                at += 1; // to declare a module is not to use it
            }
            Token::Word(_) => {
                let is_import = at > 0 && tokens[at - 1] == Token::Word("use");
                let mut all = Vec::new();
                let end = paths(tokens, at, &[], &mut all);
                for path in all.iter().filter(|path| is_import || path.len() > 1) {
                    if let Some(path) = absolute(path, &own, &inner, files) {
                        found(path, is_import);
                    }
                }
                at = end.max(at + 1);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
}

impl<'a> Crate<'a> {
    /// The file in which an item stands: that of the longest beginning of its path that is a module, unless that module
    /// has only imported it.
    fn file_of(&self, path: &[&'a str], steps: usize) -> Option<&'a str> {
        let length = (0..=path.len()).rev().find(|length| self.files.contains_key(&path[..*length]))?;
        let (module, rest) = path.split_at(length);
        let imported = rest.first().and_then(|name| self.imports.get(&(module.to_vec(), *name)));
        match imported.filter(|_| steps > 0) {
            Some(import) => self.file_of(&[import, &rest[1..]].concat(), steps - 1),
            None => Some(self.files[module]),
        }
    }
}

/// Whether one of two files is a part of the other: `gate/rule.rs` of `gate.rs`. Those are one idea in several files.
fn are_of_one_module(a: &str, b: &str) -> bool {
    let (a, b) = (rust_module(a), rust_module(b));
    !a.is_empty() && !b.is_empty() && (a.starts_with(&b) || b.starts_with(&a))
}

/// Which Rust files use which others.
pub fn rust_graph(sources: &[(String, String)]) -> Graph {
    let is_test = |path: &str| path.ends_with("/tests.rs") || path.contains("/tests/") || path.ends_with("/testing.rs");
    let tokens: Vec<_> = sources
        .iter()
        .filter(|(path, _)| !is_test(path))
        .map(|(path, text)| (path.as_str(), without_tests(&rust_tokens(text))))
        .collect();
    let files: BTreeMap<_, _> = tokens.iter().map(|(path, _)| (rust_module(path), *path)).collect();
    let mut imports = BTreeMap::new();
    for (path, tokens) in &tokens {
        each_path(path, tokens, &files, |import, is_import| {
            if let Some(name) = import.last().filter(|_| is_import) {
                imports.insert((rust_module(path), *name), import.clone());
            }
        });
    }
    let all = Crate { files, imports };
    let mut graph = Graph::new();
    for (path, tokens) in &tokens {
        let used = graph.entry(path.to_string()).or_default();
        each_path(path, tokens, &all.files, |path_of_item, _| {
            if let Some(file) = all.file_of(&path_of_item, 8).filter(|file| !are_of_one_module(file, path)) {
                used.insert(file.to_string());
            }
        });
    }
    graph
}

#[test]
fn rust_files_use_each_other_downwards_only() {
    assert_no_circle(
        &rust_graph(&files(&["src"], &[".rs"])),
        "Rust files use each other downwards only: `src/lib.rs` draws the map. Move what both need below both of them, or \
         hand it down as an argument.",
    );
}

#[test]
fn rust_files_do_not_use_each_other_in_a_circle() {
    assert_no_circle(
        &rust_graph(&files(&["src"], &[".rs"])),
        "Rust files use downwards only. Move what both need into a file below both of them, or hand it down as an \
         argument. (A file and the parts in its folder may know each other.)",
    );
}

#[test]
fn every_spelling_of_a_use_is_found() {
    let sources = |code: &str| {
        [
            ("src/lib.rs", "pub mod a; pub mod b; pub mod c;"),
            ("src/a.rs", "use crate::b::Name;\nmod part;\npub use part::Inner;"),
            ("src/a/part.rs", "use super::Other;\npub struct Inner;"),
            ("src/b.rs", code),
            ("src/c.rs", "pub use crate::a::Inner as Renamed;"),
        ]
        .map(|(path, code)| (path.to_string(), code.to_string()))
    };
    let found = |code: &str| circle(&rust_graph(&sources(code)));
    for code in [
        "use crate::a::Item;",
        "use crate::{a::Item, c};",
        "use crate::{c::{self, Thing}, a};",
        "pub(crate) use super::a;",
        "fn f() { crate::a::run::<u8>(1) }",
        "fn f(x: &super::a::Item) {}",
        "mod inner { use super::super::a::Item; }",
        "use std::fmt;\nimpl crate::a::Trait for X {}",
        "fn f() -> &'static str { \"//\" }\nfn g(c: char) { c == '\"'; crate::a::run() }",
        "fn f() { let s = r#\"\"\"#; crate::a::run() }",
    ] {
        let expected = ["src/a.rs", "src/b.rs", "src/a.rs"].map(String::from).to_vec();
        assert_eq!(found(code), Some(expected), "{code}");
    }
    for code in [
        "use std::a::Item;",
        "use self::x::a;",
        "// use crate::a;\n/* crate::a */",
        "const X: &str = \"crate::a::Item\";",
        "#[cfg(test)]\nmod tests { use crate::a::Item; }",
        "#[cfg(test)]\nuse crate::a::Item;\nfn f() {}",
        "fn f<'a>(x: &'a str) -> &'a str { x }",
    ] {
        assert_eq!(found(code), None, "{code}");
    }
    // Through a name that another module has imported: what it stands for counts.
    let graph = rust_graph(&sources("use crate::a::Inner; use crate::c::Renamed;"));
    assert!(graph["src/b.rs"].contains("src/a/part.rs"), "{graph:?}");
    assert!(!graph["src/b.rs"].contains("src/a.rs"), "{graph:?}");
    assert!(graph["src/a/part.rs"].is_empty(), "a part may know the whole");
}
