//! The memory tool: what it does with files, and that nothing leads out of its folder.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::{Answer, call, editor, open_chat, provider, say};
use crate::support::Editor;

/// Runs the tool; the result as the model reads it.
fn run(editor: &Editor, arguments: &str) -> String {
    editor.lua_with(
        r#"
        result = nil
        require("lathe").run_tool("memory", vim.json.decode(...), {}, function(r) result = r end)"#,
        vec![arguments.into()],
    );
    editor.wait_lua("result ~= nil");
    editor.lua_text("return result.status .. ': ' .. result.content")
}

#[test]
fn notes_are_made_read_changed_moved_and_deleted() {
    let editor = editor();
    let t = |arguments: serde_json::Value, wanted: &str| {
        let got = run(&editor, &arguments.to_string());
        assert!(got.contains(wanted), "{arguments}: {got}");
    };
    t(json!({"command": "view", "path": "/memories"}), "(none)");
    t(
        json!({"command": "create", "path": "/memories/a/notes.md", "file_text": "one\ntwo\nthree\n"}),
        "success: File created",
    );
    t(
        json!({"command": "create", "path": "/memories/a/notes.md", "file_text": "x"}),
        "error: File /memories/a/notes.md already exists",
    );
    t(json!({"command": "view", "path": "/memories/"}), "/memories/a/notes.md");
    t(json!({"command": "view", "path": "/memories/a/notes.md"}), "     1\tone\n     2\ttwo\n     3\tthree");
    t(json!({"command": "view", "path": "/memories/a/notes.md", "view_range": [2, 2]}), "numbers:\n     2\ttwo");
    t(
        json!({"command": "str_replace", "path": "/memories/a/notes.md", "old_str": "t", "new_str": "T"}),
        "several times, in lines 2, 3",
    );
    t(
        json!({"command": "str_replace", "path": "/memories/a/notes.md", "old_str": "four", "new_str": "4"}),
        "error: Nothing was replaced",
    );
    t(
        json!({"command": "str_replace", "path": "/memories/a/notes.md", "old_str": "two", "new_str": "%2 zwei"}),
        "     2\t%2 zwei",
    );
    t(
        json!({"command": "insert", "path": "/memories/a/notes.md", "insert_line": 0, "insert_text": "zero\n"}),
        "success",
    );
    t(
        json!({"command": "insert", "path": "/memories/a/notes.md", "insert_line": 99, "insert_text": "x"}),
        "error: insert_line must be from 0 to 4",
    );
    t(json!({"command": "rename", "old_path": "/memories/a/notes.md", "new_path": "/memories/b.md"}), "success");
    t(
        json!({"command": "rename", "old_path": "/memories/a/notes.md", "new_path": "/memories/c.md"}),
        "error: The path",
    );
    let file = editor.home.path().join("state/nvim/lathe/memories/b.md");
    assert_eq!(fs::read_to_string(&file).unwrap(), "zero\none\n%2 zwei\nthree\n");
    t(json!({"command": "delete", "path": "/memories/b.md"}), "success: Successfully deleted");
    t(json!({"command": "delete", "path": "/memories/b.md"}), "error: The path");
    t(json!({"command": "delete", "path": "/memories"}), "error: /memories itself stays");
    t(json!({"command": "dance", "path": "/memories"}), "error");
    t(json!({"command": "view"}), "error");
    assert!(!file.exists());
}

#[test]
fn nothing_leads_out_of_the_folder() {
    let editor = editor();
    let home = editor.home.path();
    let secret = home.join("secret");
    fs::write(&secret, "top secret").unwrap();
    run(&editor, r#"{"command": "create", "path": "/memories/x", "file_text": "x"}"#);
    let memories = home.join("state/nvim/lathe/memories");
    symlink(&secret, memories.join("link")).unwrap();
    symlink(home, memories.join("home")).unwrap();
    symlink(home.join("new"), memories.join("dangling")).unwrap();
    fs::create_dir(home.join("state/nvim/lathe/memories_too")).unwrap();
    let own = secret.to_str().unwrap();
    for path in [
        "/memories/../secret",
        "/memories/x/../../../../../secret",
        "/memories/link",
        "/memories/home/secret",
        "/memories/home/new",
        "/memories/dangling",
        "/memoriesx",
        "/memories_too/x",
        "memories/x",
        "/secret",
        own,
        "/memories/a\u{0}b",
        "",
        "..",
    ] {
        for command in ["view", "create", "str_replace", "insert", "delete"] {
            let arguments = json!({"command": command, "path": path, "file_text": "y", "old_str": "top", "new_str": "y", "insert_line": 0, "insert_text": "y"});
            let got = run(&editor, &arguments.to_string());
            assert!(got.starts_with("error: ") && !got.contains("top secret"), "{arguments}: {got}");
        }
        let arguments = json!({"command": "rename", "old_path": "/memories/x", "new_path": path});
        assert!(run(&editor, &arguments.to_string()).starts_with("error: "), "{arguments}");
        let arguments = json!({"command": "rename", "old_path": path, "new_path": "/memories/y"});
        assert!(run(&editor, &arguments.to_string()).starts_with("error: "), "{arguments}");
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "top secret");
    assert!(!home.join("new").exists());
}

#[test]
fn the_whitelist_opens_folders_of_the_user_and_changes_there_are_asked_for() {
    let editor = editor();
    let folder = editor.home.path().join("notes");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a.md"), "mine\n").unwrap();
    editor.lua_with(
        r#"
        require("lathe").setup({ interactions = { chat = { tools = { memory = { opts = { whitelist = { ... } } } } } } })"#,
        vec![folder.to_str().unwrap().into()],
    );
    let path = folder.join("a.md").display().to_string();
    assert!(run(&editor, &json!({"command": "view", "path": path}).to_string()).contains("mine"));
    let outside = format!("{}x", folder.display());
    assert!(run(&editor, &json!({"command": "create", "path": outside}).to_string()).starts_with("error: "));
    let arguments = json!({"command": "str_replace", "path": path, "old_str": "mine", "new_str": "yours"});
    editor.lua_with(
        "result = nil require('lathe').run_tool('memory', vim.json.decode(...), {}, function(r) result = r end)",
        vec![arguments.to_string().into()],
    );
    editor.wait_screen("Run the \"memory\" tool?");
    assert_eq!(fs::read_to_string(folder.join("a.md")).unwrap(), "mine\n");
}

#[test]
fn the_provider_s_memory_tool_is_run_here() {
    let view = json!({"command": "create", "path": "/memories/likes.md", "file_text": "tea"});
    let answers: Vec<Answer> = vec![call("", &[("toolu_1", "memory", view)]), say("Noted.")];
    let provider = provider("anthropic");
    let server = provider.serve(answers);
    let editor = editor();
    open_chat(&editor, &[(&provider, &server)]);
    editor.lua("chat.tool_registry:add('memory') send('I like tea')");
    editor.wait_buffer("Noted.");
    let body = &server.received()[0].body;
    assert!(body["tools"].as_array().unwrap().contains(&json!({"type": "memory_20250818", "name": "memory"})));
    let file = editor.home.path().join("state/nvim/lathe/memories/likes.md");
    assert_eq!(fs::read_to_string(file).unwrap(), "tea");
}
