//! No circle between Lua modules, however and whenever one gets at the other; and how a circle is found.

use std::collections::{BTreeMap, BTreeSet};

use super::files;
use super::tokens::{Token, lua_tokens};

/// Who needs whom.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// A way that leads back to where it began.
pub fn circle(graph: &Graph) -> Option<Vec<String>> {
    fn visit<'a>(
        graph: &'a Graph,
        node: &'a str,
        path: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> Option<Vec<String>> {
        if let Some(start) = path.iter().position(|seen| *seen == node) {
            return Some(path[start..].iter().chain([&node]).map(ToString::to_string).collect());
        }
        if !done.contains(node) {
            path.push(node);
            for next in graph.get(node).into_iter().flatten() {
                if let Some(found) = visit(graph, next, path, done) {
                    return Some(found);
                }
            }
            path.pop();
            done.insert(node);
        }
        None
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|node| visit(graph, node, &mut Vec::new(), &mut done))
}

/// Fails with the rule and the circle.
pub fn assert_no_circle(graph: &Graph, rule: &str) {
    if let Some(found) = circle(graph) {
        panic!("{rule}\nThe circle: {}", found.join(" -> "));
    }
}

/// The name under which a Lua file is required.
fn module(path: &str) -> String {
    path.trim_start_matches("lua/").trim_end_matches(".lua").trim_end_matches("/init").replace('/', ".")
}

/// The modules that the code gets at: those that it requires in whatever way (`require "x"`, `pcall(require, "x")`,
/// `require("x." .. name)`, `v:lua.require'x'`), and those that a text of it names, since that may be loaded elsewhere.
fn required(code: &str, modules: &BTreeSet<String>) -> BTreeSet<String> {
    let tokens = lua_tokens(code);
    let mut found = BTreeSet::new();
    for (i, token) in tokens.iter().enumerate() {
        let Token::Text(text) = token else { continue };
        let before: Vec<_> = tokens[..i].iter().rev().take(4).collect();
        let is_required = before.iter().position(|token| **token == Token::Word("require")).is_some_and(|at| {
            // `xpcall(require, handler, "x")` has a word between them.
            before[..at].iter().all(|token| !matches!(token, Token::Sign(sign) if !"(,".contains(*sign)))
        });
        let is_begun = tokens[i + 1..].starts_with(&[Token::Sign('.'), Token::Sign('.')]);
        if is_required && is_begun {
            found.extend(modules.iter().filter(|module| module.starts_with(text)).cloned());
        } else if modules.contains(*text) && (is_required || text.contains('.')) {
            found.insert(text.to_string());
        } else if text.contains("require") {
            found.extend(required(text, modules));
        }
    }
    found
}

/// Which Lua modules get at which others. A module that names itself, a group of autocommands for one, gets nowhere.
fn lua_graph(sources: &[(String, String)]) -> Graph {
    let modules: BTreeSet<String> = sources.iter().map(|(path, _)| module(path)).collect();
    let needs = |path: &str, text: &str| {
        let own = module(path);
        let mut needed = required(text, &modules);
        needed.remove(&own);
        (own, needed)
    };
    sources.iter().map(|(path, text)| needs(path, text)).collect()
}

#[test]
fn lua_modules_do_not_require_in_a_circle() {
    assert_no_circle(
        &lua_graph(&files(&["lua"], &[".lua"])),
        "Lua modules require downwards only, early or late: a `require` inside a function serves start-up time, it does \
         not hide a circle. Move what both need below both of them, or hand it down as an argument.",
    );
}

#[test]
fn every_spelling_of_a_require_is_found() {
    let files = |code: &str| {
        [("lua/a/init.lua", r#"local b = require("a.b")"#), ("lua/a/b.lua", code), ("lua/a/c.lua", "")]
            .map(|(path, code)| (path.to_string(), code.to_string()))
    };
    let found = |code: &str| circle(&lua_graph(&files(code))).is_some();
    for code in [
        r#"function M.x() require("a").y() end"#,
        r#"require "a""#,
        "require 'a'",
        "require[[a]]",
        "require\n  [==[a]==]",
        r#"local ok, a = pcall(require, "a")"#,
        r#"local ok, a = xpcall(require, handler, "a")"#,
        r#"local a = pcall(require, "a" .. suffix)"#,
        r#"vim.bo.omnifunc = "v:lua.require'a'.complete""#,
        r#"--[[ a comment ]] require("a")"#,
        r#"local text = "--" require("a")"#,
    ] {
        assert!(found(code), "{code}");
    }
    for code in [
        r#"return require("other")"#,
        r#"-- require("a")"#,
        r#"--[==[ require("a") ]] ]==]"#,
        r#"local title = "a""#,
        r#"require("a.c")"#,
        r#"api.nvim_create_augroup("a." .. id, {})"#,
        r#"nvim_create_augroup("a.b", {})"#,
    ] {
        assert!(!found(code), "{code}");
    }
    let through = |b: &str| {
        let mut files = files(b);
        files[2].1 = r#"local entry = { path = "a" } return require("a")"#.to_string();
        circle(&lua_graph(&files))
    };
    let expected = Some(["a", "a.b", "a.c", "a"].map(String::from).to_vec());
    assert_eq!(through(r#"local entry = { path = "a.c" }"#), expected);
    assert_eq!(through(r#"return package.loaded["a.c"]"#), expected);
}

/// Rooms of the Lua side from the top down, `=` for one module without what is below its name. A room gets at what stands
/// below it, the rooms of one line at nothing of each other; what has no room is below all of them.
const ROOMS: [&[&str]; 8] = [
    &["lathe.command", "lathe.health", "lathe.compat"],
    &["=lathe"],
    &["=lathe.native"], // its public API; what it is made of is in the last line
    &["lathe.chat"],
    &["lathe.chat.ask", "lathe.chat.input"],
    &["lathe.chat.draw"],
    &["lathe.tools"],
    &["lathe.adapters", "lathe.native"],
];

/// The room of a module, and its line.
fn room_of(module: &str) -> Option<(usize, &'static str)> {
    let is_in = |room: &str| match room.strip_prefix('=') {
        Some(room) => module == room,
        None => module == room || module.strip_prefix(room).is_some_and(|rest| rest.starts_with('.')),
    };
    let rooms = ROOMS.iter().enumerate().flat_map(|(line, rooms)| rooms.iter().map(move |room| (line, *room)));
    rooms.filter(|(_, room)| is_in(room)).max_by_key(|(_, room)| room.len())
}

#[test]
fn rooms_require_downwards() {
    let mut upwards = Vec::new();
    for (from, needed) in &lua_graph(&files(&["lua"], &[".lua"])) {
        let own = room_of(from);
        for to in needed {
            let Some((line, room)) = room_of(to) else { continue };
            // The configuration says where built-in tools are; it loads none.
            let is_entry = from == "lathe.config" && room == "lathe.tools" && to.contains(".builtin.");
            let is_below = own.is_some_and(|(own_line, own_room)| own_room == room || own_line < line);
            if !is_below && !is_entry {
                upwards.push(format!("{from} -> {to}"));
            }
        }
    }
    let rule = "a room requires what stands below it, see `ROOMS`";
    assert!(upwards.is_empty(), "{rule}\n{}", upwards.join("\n"));
}

#[test]
fn a_module_is_in_its_innermost_room() {
    assert_eq!(room_of("lathe.chat.draw.block"), Some((5, "lathe.chat.draw")));
    assert_eq!(room_of("lathe.chat.effects"), Some((3, "lathe.chat")));
    assert_eq!(room_of("lathe.native"), Some((2, "=lathe.native")));
    assert_eq!(room_of("lathe.native.store"), Some((7, "lathe.native")));
    assert_eq!(room_of("lathe.config"), None);
}
