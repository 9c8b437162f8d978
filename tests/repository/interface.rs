//! The fingerprint that binds the library to the Lua beside it.

use std::fs;
use std::path::Path;

#[path = "../../scripts/interface.rs"]
mod fingerprint;

use super::root;

/// A copy of what the fingerprint is made of.
fn copied() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["src/bridge", "lua/lathe"] {
        fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    let mut names: Vec<String> =
        ["src/bridge.rs", "lua/lathe/bridge_types.lua", "lua/lathe/version.lua"].map(str::to_owned).to_vec();
    for entry in fs::read_dir(root().join("src/bridge")).unwrap() {
        names.push(format!("src/bridge/{}", entry.unwrap().file_name().to_string_lossy()));
    }
    for name in names {
        fs::copy(root().join(&name), folder.path().join(&name)).unwrap();
    }
    folder
}

fn changed(file: &str, from: &str, to: &str) -> String {
    let folder = copied();
    let path = folder.path().join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
    of(folder.path())
}

fn of(folder: &Path) -> String {
    fingerprint::fingerprint(folder).unwrap()
}

#[test]
fn the_file_for_lua_is_up_to_date() {
    let text = fs::read_to_string(fingerprint::lua_file(&root())).unwrap();
    assert_eq!(
        text,
        fingerprint::lua_text(&of(&root())),
        "build the library (any way), then commit lua/lathe/interface.lua"
    );
}

#[test]
fn each_change_of_the_interface_changes_the_fingerprint_and_no_other_change_does() {
    let now = of(&root());
    assert_eq!(of(copied().path()), now);
    for (file, from, to) in [
        ("src/bridge/commands.rs", "self.add(\"run_command\"", "self.add(\"start_command\""),
        ("src/bridge/commands.rs", "fields.bytes(\"shell\")", "fields.bytes(\"program\")"),
        ("src/bridge/requests.rs", "fields.text(\"url\")", "fields.text(\"address\")"),
        ("src/bridge/chats.rs", "self.event(\"submit\"", "self.event(\"send\""),
        ("src/bridge/perform.rs", "\n    take_input ", "\n    "),
        ("src/bridge/permissions.rs", "raw_set(\"problems\"", "raw_set(\"faults\""),
        (
            "lua/lathe/bridge_types.lua",
            "---@field finish_turn fun(chat: integer, o: {",
            "---@field finish_turn fun(chat: integer, o: { more: string,",
        ),
        ("lua/lathe/version.lua", "0.1.0", "0.1.1"),
    ] {
        assert_ne!(changed(file, from, to), now, "{file}: {from}");
    }
    for (file, from, to) in [
        ("src/bridge/commands.rs", "//! Exports", "//! The exports"),
        ("src/bridge/commands.rs", "let number =", "let  number ="),
        ("lua/lathe/bridge_types.lua", "---@meta", "---@meta lathe"),
    ] {
        assert_eq!(changed(file, from, to), now, "{file}: {from}");
    }
}
