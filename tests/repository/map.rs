//! The map of the code leads somewhere.

use std::fs;

use crate::root;

const MAX_LINES: usize = 120;

/// What stands in backquotes and looks like a path of this repository.
fn paths(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| word.contains('/') && !word.contains([' ', '"', '(', '{', '…']);
    quoted.filter(is_path).collect()
}

#[test]
fn every_path_of_the_map_exists_and_the_map_is_short() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    assert!(text.lines().count() <= MAX_LINES, "ARCHITECTURE.md has more than {MAX_LINES} lines");
    let paths = paths(&text);
    assert!(paths.len() > 40, "it names few places: {paths:?}");
    // The library is built, and ignored by git.
    let is_missing = |path: &&&str| !root().join(path).exists() && **path != "lua/lathe_core.so";
    let missing: Vec<_> = paths.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names what is not there: {missing:?}");
}

#[test]
fn rooms_of_the_code_are_on_the_map() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for folder in ["src", "lua/lathe", "lua/lathe/chat"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let entry = entry.unwrap();
            let room = format!("{folder}/{}/", entry.file_name().to_string_lossy());
            let is_empty = || fs::read_dir(entry.path()).unwrap().next().is_none();
            if entry.path().is_dir() && !is_empty() {
                assert!(text.contains(&room), "ARCHITECTURE.md does not say what {room} is for");
            }
        }
    }
}
