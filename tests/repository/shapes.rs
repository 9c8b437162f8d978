//! What crosses between the library and Lua has the same fields on both sides: those that Rust makes and reads, and those that
//! `bridge_types.lua` documents.

use std::collections::{BTreeMap, BTreeSet};

use super::{code, files};

/// Names of tables, each with its fields.
type Shapes = BTreeMap<String, BTreeSet<String>>;

/// The items between the brace at the beginning of `text` and the one that closes it, separated by commas.
fn items(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut found) = (0, 1, Vec::new());
    for (at, char) in text.char_indices() {
        match char {
            '{' | '(' | '[' | '<' => depth += 1,
            '}' | ')' | ']' | '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && char == ',') {
            found.push(text[from..at].trim());
            from = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    found.retain(|item| !item.is_empty());
    found
}

fn names(items: &[&str]) -> BTreeSet<String> {
    items.iter().map(|item| item.split([':', '?']).next().unwrap_or_default().trim().to_string()).collect()
}

/// What Rust makes: `shape!(lua, name { field, other: value })`.
fn made(rust: &str) -> Shapes {
    let mut shapes = Shapes::new();
    // However it is broken into lines.
    let code = code(rust, "//").split_whitespace().collect::<Vec<_>>().join(" ").replace("shape!( ", "shape!(");
    for piece in code.split("shape!(lua, ").skip(1) {
        let Some((name, _)) = piece.split_once(" {") else { continue };
        shapes.entry(name.to_string()).or_default().extend(names(&items(&piece[name.len() + 1..])));
    }
    shapes
}

/// What Rust reads: functions that say in their first line whose fields they take (`` /// `lathe.Change` ``).
fn read(rust: &str) -> Shapes {
    let mut shapes = Shapes::new();
    for piece in rust.split("\n/// `lathe.").skip(1) {
        let (name, rest) = piece.split_once('`').unwrap_or_default();
        let body = rest.split("\n}\n").next().unwrap_or_default();
        let fields = body.split("fields.").skip(1).filter_map(|call| {
            let (function, arguments) = call.split_once('(')?;
            let is_word = function.chars().all(|char| char.is_ascii_lowercase() || char == '_');
            is_word.then(|| arguments.strip_prefix('"')?.split('"').next()).flatten()
        });
        shapes.entry(name.to_string()).or_default().extend(fields.map(str::to_string));
    }
    shapes
}

/// The documented classes (`lathe.Change` as `Change`), and performers that get a table of their own.
fn documented(lua: &str) -> Shapes {
    let mut shapes = Shapes::new();
    let mut class = String::new();
    for line in lua.lines() {
        if let Some(rest) = line.strip_prefix("---@class ") {
            let name = rest.trim_start_matches("(exact) ").split([' ', ':']).next().unwrap_or_default();
            class = name.trim_start_matches("lathe.").to_string();
        } else if let Some(field) = line.strip_prefix("---@field ") {
            let name = field.split([' ', '?']).next().unwrap_or_default();
            if !name.starts_with('[') {
                shapes.entry(class.clone()).or_default().insert(name.to_string());
            }
            if let Some((_, table)) = field.split_once("o: {").filter(|_| class == "Performers") {
                shapes.insert(name.to_string(), names(&items(&format!("{{{table}"))));
            }
        }
    }
    shapes
}

/// What differs, by name.
fn differences(rust: &Shapes, lua: &Shapes) -> Vec<String> {
    let of = |name: &String| (rust.get(name), lua.get(name));
    let different = rust.keys().filter(|name| of(name).0 != of(name).1);
    different.map(|name| format!("{name}: Rust has {:?}, Lua has {:?}", of(name).0, of(name).1)).collect()
}

#[test]
fn tables_that_cross_the_bridge_have_the_documented_fields() {
    let text = |folder: &str, ending: &str| {
        files(&[folder], &[ending]).into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n")
    };
    let (rust, lua) = (text("src/bridge", ".rs"), documented(&text("lua/lathe", "bridge_types.lua")));
    let (made, read) = (made(&rust), read(&rust));
    assert!(made.len() > 25 && read.len() >= 6, "{made:?} {read:?}");
    assert_eq!(differences(&made, &lua), Vec::<String>::new(), "what performers get");
    assert_eq!(differences(&read, &lua), Vec::<String>::new(), "what performers return");
    let given = text("lua/lathe", "bridge_types.lua");
    let performers = given.split_once("lathe.Performers\n").unwrap_or_default().1;
    let classes = performers.lines().filter_map(|line| line.split_once(", o: lathe.")?.1.split_once(')'));
    let unmade = classes.map(|(class, _)| class).filter(|class| !made.contains_key(*class));
    assert_eq!(unmade.collect::<Vec<_>>(), [""; 0], "classes that nobody makes");
    let unused = lua["Performers"].iter().filter(|name| lua.contains_key(*name) && !made.contains_key(*name));
    assert_eq!(unused.collect::<Vec<_>>(), Vec::<&String>::new(), "fields that nobody gives");
}

#[test]
fn a_field_that_one_side_does_not_know_is_found() {
    let lua = documented(
        "---@class (exact) lathe.Change\n---@field path string\n---@field after string?\n\n\
         ---@class (exact) lathe.Performers\n---@field show fun(chat: integer, o: { text: string, look: { a: any }? })",
    );
    let t = |rust: &str| differences(&made(rust), &lua).len() + differences(&read(rust), &lua).len();
    assert_eq!(t("shape!(lua, show { text: text.as_str(), look })"), 0);
    assert_eq!(t("shape!(lua, Change { path }) shape!(lua, Change { path, after: f(a, b) })"), 0);
    assert_eq!(t("\n/// `lathe.Change`: it.\nfn f() { fields.text(\"path\")?; fields.flag(\"after\")\n}\n"), 0);
    for wrong in [
        "shape!(lua, show { text })",
        "shape!(lua, show { text, look, more })",
        "shape!(lua, unknown { text })",
        "shape!(lua, Change { path })",
        "\n/// `lathe.Change`\nfn f() { fields.text(\"path\")\n}\n",
    ] {
        assert_eq!(t(wrong), 1, "{wrong}");
    }
}
