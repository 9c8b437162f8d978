//! Names of Lua files, which a reader must be able to tell apart.

use std::collections::BTreeMap;

use super::{NOBODY, files};

/// How many letters must be put in, taken out or exchanged to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (k, right) in b.iter().enumerate() {
            let changed = corner + usize::from(left != *right);
            corner = row[k + 1];
            row[k + 1] = changed.min(corner + 1).min(row[k] + 1);
        }
    }
    row[b.len()]
}

/// The last word of a path, `init.lua` being called as its folder.
fn last_name(path: &str) -> &str {
    path.trim_end_matches(".lua").trim_end_matches("/init").rsplit('/').next().unwrap_or_default()
}

/// The pairs of paths with names that one letter at most tells apart.
fn alike(paths: &[&str]) -> Vec<String> {
    let by_name: BTreeMap<&str, &str> = paths.iter().map(|path| (last_name(path), *path)).collect();
    let twice = paths.iter().filter(|path| by_name[last_name(path)] != **path);
    let mut found: Vec<String> = twice.map(|path| format!("{path} and {}", by_name[last_name(path)])).collect();
    for (name, path) in &by_name {
        let near = by_name.range(*name..).skip(1).filter(|(other, _)| distance(name, other) == 1);
        found.extend(near.map(|(_, other)| format!("{path} and {other}")));
    }
    found
}

#[test]
fn lua_files_have_names_that_differ_by_more_than_a_letter() {
    let sources = files(&["lua/lathe"], &[".lua"]);
    let paths: Vec<&str> = sources.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(alike(&paths), NOBODY, "two names that differ by one letter at most are taken for each other");
}

#[test]
fn names_that_are_alike_would_be_found() {
    assert_eq!(alike(&["a/approval.lua", "b/approvals.lua"]), ["a/approval.lua and b/approvals.lua"]);
    assert_eq!(alike(&["a/list.lua", "b/list.lua"]), ["a/list.lua and b/list.lua"]);
    assert_eq!(alike(&["a/tool.lua", "tools/init.lua"]), ["a/tool.lua and tools/init.lua"]);
    assert_eq!(alike(&["a/init.lua", "b/init.lua"]), ["a/init.lua and b/init.lua"]);
    assert_eq!(alike(&["question.lua", "question_text.lua", "gate.lua", "copy.lua", "core.lua"]), NOBODY);
}
