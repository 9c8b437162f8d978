//! Nobody looks into a sentence for what it says: what one part tells another crosses as data, and texts may be reworded.

use super::files;
use super::tokens::{Token, lua_tokens};

/// Sentences of other programs, which say some things in no other way.
const FOREIGN: &[&str] = &["stack traceback"];

/// Whether a text is prose: two words with a space between them.
fn is_prose(text: &str) -> bool {
    let is_word = |word: &str| word.len() > 1 && word.chars().all(char::is_alphabetic);
    let words: Vec<&str> = text.split(' ').map(|word| word.trim_matches(|c: char| !c.is_alphabetic())).collect();
    words.windows(2).any(|pair| pair.iter().all(|word| is_word(word))) && !FOREIGN.iter().any(|own| text.contains(own))
}

/// The prose that Lua code compares with or looks for.
fn sought_by_lua(text: &str) -> Vec<String> {
    const SEARCHES: [&str; 6] = ["match", "gmatch", "find", "gsub", "startswith", "endswith"];
    let tokens = lua_tokens(text);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Word(word) if SEARCHES.contains(word) && tokens.get(at + 1) == Some(&Token::Sign('(')) => {
                let mut depth = 0;
                for inner in &tokens[at + 1..] {
                    match inner {
                        Token::Sign('(') => depth += 1,
                        Token::Sign(')') => depth -= 1,
                        Token::Text(text) if depth == 1 && is_prose(text) => found.push((*text).to_string()),
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            Token::Text(text) if is_prose(text) => {
                let is_equals = |from: usize| tokens[from..].starts_with(&[Token::Sign('='), Token::Sign('=')]);
                if is_equals(at + 1) || (at >= 2 && is_equals(at - 2)) {
                    found.push((*text).to_string());
                }
            }
            _ => {}
        }
    }
    found
}

/// The same for Rust code, without its tests.
fn sought_by_rust(text: &str) -> Vec<String> {
    const SEARCHES: [&str; 10] = [
        "starts_with(",
        "ends_with(",
        "contains(",
        "strip_prefix(",
        "strip_suffix(",
        "split_once(",
        "rsplit_once(",
        "find(",
        "== ",
        "!= ",
    ];
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    for search in SEARCHES {
        for piece in code.split(search).skip(1) {
            let literal = piece.trim_start_matches(['&', 'b']).strip_prefix('"');
            let text = literal.and_then(|literal| literal.split('"').next()).unwrap_or_default();
            if is_prose(text) {
                found.push(text.to_string());
            }
        }
    }
    found
}

#[test]
fn nobody_looks_into_a_sentence_for_what_it_says() {
    let is_test = |path: &str| path.ends_with("tests.rs") || path.contains("/tests") || path.ends_with("testing.rs");
    let lua = files(&["lua", "plugin"], &[".lua"]).into_iter().map(|(path, text)| (path, sought_by_lua(&text)));
    let rust = files(&["src"], &[".rs"]).into_iter().filter(|(path, _)| !is_test(path));
    let rust = rust.map(|(path, text)| (path, sought_by_rust(&text)));
    let found: Vec<_> = lua.chain(rust).filter(|(_, texts)| !texts.is_empty()).collect();
    assert!(found.is_empty(), "give it as data instead: {found:#?}");
}

#[test]
fn a_sentence_that_is_looked_into_would_be_found() {
    for code in [
        r#"local rule = content:match("^denied by rule [^\n]-%b()")"#,
        r#"return text:find("What it had printed:", 1, true)"#,
        r#"if vim.startswith(text, "No key for " .. name) then end"#,
        r#"if content == "Error calling it" then end"#,
    ] {
        assert_eq!(sought_by_lua(code).len(), 1, "{code}");
    }
    for code in [
        r#"log.error("it could not be found: " .. text:match("^%s*(.*)"))"#,
        r#"local word = is_left and "left of it" or name == "left""#,
        r#"if vim.startswith(value, "cmd:") then end"#,
        r#"local first = text:match("^(.-)\nstack traceback:")"#,
    ] {
        assert_eq!(sought_by_lua(code), [""; 0], "{code}");
    }
    assert_eq!(sought_by_rust(r#"if why.starts_with("no answer in") || why == "it failed" {}"#).len(), 2);
    assert_eq!(sought_by_rust(r#"if url.starts_with("https:") || name == "a" { fail("it failed") }"#), [""; 0]);
    assert_eq!(sought_by_rust("#[cfg(test)]\nmod tests { assert!(text.contains(\"not saved\")) }"), [""; 0]);
}
