//! What the memory tool does to texts: line ends, the mark of UTF-8, rights, buffers, and folders of the user under other names.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::chat;
use crate::support::Editor;

/// Runs the tool; how it ended and what the model reads.
fn run(editor: &Editor, arguments: &Value) -> String {
    editor.lua_with(
        "result = nil require('lathe').run_tool('memory', vim.json.decode(...), {}, function(r) result = r end)",
        vec![arguments.to_string().into()],
    );
    editor.wait_lua("result ~= nil");
    editor.lua_text("return result.status .. ': ' .. result.content")
}

/// A file of the tool's own folder.
fn file(editor: &Editor, name: &str, content: &[u8]) -> PathBuf {
    let folder = editor.home.path().join("state/nvim/lathe/memories");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}

fn replace(old: &str, new: &str) -> Value {
    json!({"command": "str_replace", "path": "/memories/f", "old_str": old, "new_str": new})
}

fn insert(line: usize, text: &str) -> Value {
    json!({"command": "insert", "path": "/memories/f", "insert_line": line, "insert_text": text})
}

#[test]
fn line_ends_and_the_end_of_the_file_stay_as_they_are() {
    let editor = chat::editor();
    for (before, edit, after) in [
        ("one\r\ntwo\r\nthree\r\n", replace("two\nthree", "two\n2.5\nthree"), "one\r\ntwo\r\n2.5\r\nthree\r\n"),
        ("one\r\ntwo\r\n", replace("one\r\ntwo", "1\r\n2"), "1\r\n2\r\n"),
        ("one\r\ntwo", insert(1, "1.5"), "one\r\n1.5\r\ntwo"),
        ("one\ntwo\n", insert(2, "three"), "one\ntwo\nthree\n"),
        ("one\ntwo", insert(0, "zero\n"), "zero\none\ntwo"),
        ("one\ntwo", insert(2, "three\n"), "one\ntwo\nthree\n"),
        ("one\ntwo", insert(2, "three"), "one\ntwo\nthree"),
        ("", insert(0, "first"), "first\n"),
        // Lines of both kinds: what is not named stays.
        ("one\r\ntwo\nthree\r\n", replace("two", "zwei"), "one\r\nzwei\nthree\r\n"),
        ("\u{feff}one\ntwo\n", replace("one", "1"), "\u{feff}1\ntwo\n"),
        ("\u{feff}one\r\n", insert(0, "zero"), "\u{feff}zero\r\none\r\n"),
        ("a\n", replace("a", "%1 $& \\0"), "%1 $& \\0\n"),
    ] {
        let path = file(&editor, "f", before.as_bytes());
        assert!(run(&editor, &edit).starts_with("success: "), "{edit}");
        assert_eq!(fs::read_to_string(&path).unwrap(), after, "{before:?} {edit}");
    }
    file(&editor, "f", "\u{feff}one\r\ntwo\r\n".as_bytes());
    let shown = run(&editor, &json!({"command": "view", "path": "/memories/f"}));
    assert!(shown.ends_with("     1\tone\n     2\ttwo"), "{shown:?}");
}

#[test]
fn rights_of_a_file_stay_and_an_insert_without_text_is_an_error() {
    let editor = chat::editor();
    let path = file(&editor, "f", b"one\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
    assert!(run(&editor, &replace("one", "two")).starts_with("success: "));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o751);
    for empty in [insert(0, ""), json!({"command": "insert", "path": "/memories/f", "insert_line": 0})] {
        assert_eq!(run(&editor, &empty), "error: insert_text is missing.");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "two\n");
}

#[test]
fn open_buffers_follow_and_unsaved_changes_are_never_lost() {
    let editor = chat::editor();
    let path = file(&editor, "f", b"one\r\ntwo\r\nthree\r\n");
    editor.lua_with(
        "vim.o.autoread = false vim.cmd.edit(...) vim.cmd('normal! 3G')",
        vec![path.to_str().unwrap().into()],
    );
    assert!(run(&editor, &replace("two", "zwei")).starts_with("success: "));
    assert_eq!(editor.buffer(), "one\nzwei\nthree");
    assert!(editor.lua_bool("return not vim.bo.modified and vim.bo.fileformat == 'dos' and vim.fn.line('.') == 3"));
    // Nothing asks later, either, and the change can be undone.
    editor.lua("vim.cmd('checktime')");
    assert_eq!(editor.messages(), "");
    editor.lua("vim.cmd('silent undo')");
    assert_eq!(editor.buffer(), "one\ntwo\nthree");
    for command in [
        replace("zwei", "2"),
        insert(0, "x"),
        json!({"command": "delete", "path": "/memories/f"}),
        json!({"command": "rename", "old_path": "/memories/f", "new_path": "/memories/g"}),
    ] {
        let told = run(&editor, &command);
        assert!(told.starts_with("error: /memories/f is open in the editor with changes that are not saved"), "{told}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\r\nzwei\r\nthree\r\n");
    assert_eq!(editor.buffer(), "one\ntwo\nthree");
}

#[test]
fn folders_and_files_of_the_user_go_by_the_names_given_to_them() {
    let editor = chat::editor();
    let home = editor.home.path();
    fs::create_dir_all(home.join("dots/deep")).unwrap();
    fs::write(home.join("dots/deep/rc"), "set\n").unwrap();
    fs::write(home.join("about_me.md"), "I like tea\n").unwrap();
    fs::write(home.join("secret"), "top secret\n").unwrap();
    std::os::unix::fs::symlink(home.join("secret"), home.join("dots/link")).unwrap();
    editor.run("whitelist");
    let view = |path: &str| run(&editor, &json!({"command": "view", "path": path}));
    assert!(view("/dotfiles").contains("/dotfiles/deep/rc"), "{}", view("/dotfiles"));
    assert!(view("/dotfiles/deep/rc").ends_with("     1\tset"));
    assert!(view("/personal").ends_with("     1\tI like tea"));
    for path in ["/dotfiles/../secret", "/dotfiles/link", "/dotfilesx", "/personal/x", "/secret", "/x"] {
        let told = view(path);
        assert!(told.starts_with("error: ") && !told.contains("top secret"), "{path}: {told}");
    }
    let told = view("/elsewhere");
    assert!(told.contains("is not below /memories, /dotfiles, /personal"), "{told}");
    let edit = json!({"command": "str_replace", "path": "/personal", "old_str": "tea", "new_str": "coffee"});
    assert!(run(&editor, &edit).starts_with("success: "));
    assert_eq!(fs::read_to_string(home.join("about_me.md")).unwrap(), "I like coffee\n");
    assert_eq!(run(&editor, &json!({"command": "delete", "path": "/dotfiles"})), "error: /dotfiles itself stays.");
    // Without that setting a change is asked for.
    editor.run("asking");
    editor.wait_screen("Run the \"memory\" tool?");
    assert!(!home.join("dots/new").exists());
}
