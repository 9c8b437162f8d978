//! Files that several Neovims write: what one has written is not lost by another, no reader finds half a file, and what cannot
//! be written is told.

use std::fs;
use std::path::PathBuf;

use crate::chat::PRELUDE;
use crate::support::{Editor, PATIENCE, Setup};

/// Editors of one user.
fn editors(count: usize) -> (Vec<Editor>, PathBuf) {
    let first = Setup::default().start();
    let state = first.home.path().join("state");
    let others = (1..count).map(|_| Setup::default().env("XDG_STATE_HOME", state.to_str().unwrap()).start());
    let mut all: Vec<Editor> = others.collect();
    all.insert(0, first);
    for editor in &all {
        editor.lua(PRELUDE);
        editor.run("prepare");
    }
    (all, state.join("nvim/lathe"))
}

fn json(path: &std::path::Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// What is left beside a file by writes of it.
fn leftovers(folder: &std::path::Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with('.')).collect()
}

#[test]
fn servers_that_several_editors_disable_all_stay_disabled() {
    let (editors, state) = editors(3);
    let file = state.join("native.json");
    // Each has looked at the file before any has written it.
    for (number, editor) in editors.iter().enumerate() {
        editor.lua(&format!("for i = 1, 40 do server('s{number}_' .. i) end"));
    }
    let reader = {
        let file = file.clone();
        let deadline = std::time::Instant::now() + PATIENCE;
        std::thread::spawn(move || {
            let mut read = 0;
            loop {
                if let Ok(text) = fs::read(&file) {
                    let all: serde_json::Value = serde_json::from_slice(&text).expect("never half a file");
                    read += 1;
                    if all.as_object().unwrap().len() == 120 || std::time::Instant::now() > deadline {
                        return read;
                    }
                }
            }
        })
    };
    for (number, editor) in editors.iter().enumerate() {
        editor.run_with("disable_all", vec![number.into()]);
    }
    for editor in &editors {
        editor.wait_lua("done == 40");
        assert_eq!(editor.lua_text("return table.concat(failed, '\\n')"), "");
    }
    assert!(reader.join().unwrap() > 1);
    assert_eq!(json(&file).as_object().unwrap().len(), 120);
    assert_eq!(leftovers(&state), Vec::<String>::new());
    // The first editor hears of what the others wrote, and so does a new one.
    for editor in [
        &editors[0],
        &Setup::default().env("XDG_STATE_HOME", state.ancestors().nth(2).unwrap().to_str().unwrap()).start(),
    ] {
        editor.lua("native = require('lathe.native') for i = 1, 40 do native.add_server('s2_' .. i, {}) end");
        assert!(editor.lua_bool("return require('lathe.native.store').get('s2_7').status == 'disabled'"));
    }
}

#[test]
fn what_cannot_be_read_or_written_is_told_and_stays_as_it_is() {
    for (what, prepare) in [
        ("broken", "fs_write"),
        ("a list", "list"),
        ("a folder in its place", "folder"),
        ("a folder that cannot be made", "file_above"),
    ] {
        let (editors, state) = editors(1);
        let (editor, file) = (&editors[0], state.join("native.json"));
        let _ = fs::remove_dir_all(&state);
        match prepare {
            "file_above" => fs::write(&state, "x").unwrap(),
            _ => fs::create_dir_all(&state).unwrap(),
        }
        match prepare {
            "fs_write" => fs::write(&file, "{\"mine\": true").unwrap(),
            "list" => fs::write(&file, "[1, 2]").unwrap(),
            "folder" => fs::create_dir_all(&file).unwrap(),
            _ => {}
        }
        editor.lua("server('one') ok, err = native.disable('one', { persist = true })");
        assert!(editor.lua_bool("return ok == false"), "{what}");
        let err = editor.lua_text("return err");
        assert!(err.contains("native.json") || err.contains("lathe"), "{what}: {err}");
        match prepare {
            "fs_write" => assert_eq!(fs::read_to_string(&file).unwrap(), "{\"mine\": true"),
            "list" => assert_eq!(fs::read_to_string(&file).unwrap(), "[1, 2]"),
            _ => {}
        }
        if prepare != "file_above" {
            editor.wait_lua("#told > 0");
            assert_eq!(editor.lua_int("return #told"), 1, "{what}: once");
            assert_eq!(leftovers(&state), Vec::<String>::new());
        }
        assert_eq!(editor.messages(), "");
    }
}

#[test]
fn a_lock_that_another_program_holds_is_told_and_holds_nobody_up() {
    let (editors, state) = editors(2);
    editors[0].lua_with(
        "require('lathe.core').load() held = require('lathe.core').lib.lock_file({ path = ... })",
        vec![state.join("native.json.lock").to_str().unwrap().into()],
    );
    editors[1].lua("server('one') require('lathe.core').load()");
    editors[1].watch_loop();
    editors[1].lua("ok, err = native.disable('one', { persist = true })");
    assert!(editors[1].lua_text("return err").contains("is locked by another program"));
    let gaps = editors[1].gaps();
    assert!(gaps.max_ms() < 500.0, "{gaps:?}");
    editors[0].lua("held:release()");
    assert!(editors[1].lua_bool("return (native.disable('one', { persist = true }))"));
    assert_eq!(json(&state.join("native.json"))["one"], true);
}

#[test]
fn a_server_is_disabled_for_good_from_a_fast_event_too() {
    let (editors, state) = editors(1);
    let editor = &editors[0];
    editor.run("early_event");
    editor.wait_lua("first");
    let first = editor.lua_text("return vim.inspect(first)");
    assert!(first.contains("the library is not loaded yet"), "{first}");
    editor.run("late_event");
    editor.wait_lua("second");
    assert!(
        editor.lua_bool("return second[1] and second[2] == true"),
        "{}",
        editor.lua_text("return vim.inspect(second)")
    );
    assert_eq!(json(&state.join("native.json"))["one"], true);
}

#[test]
fn notes_that_several_editors_keep_lose_no_line() {
    let (editors, state) = editors(3);
    for editor in &editors {
        editor.lua("require('lathe.core').load() files = require('lathe.tools.memory_files')");
    }
    editors[0].lua("files.run({ command = 'create', path = '/memories/n.md', file_text = 'begin\\n' }, {})");
    for (number, editor) in editors.iter().enumerate() {
        editor.run_with("note_all", vec![number.into()]);
    }
    for editor in &editors {
        editor.wait_lua("done == 41");
        assert_eq!(editor.lua_text("return table.concat(failed, '\\n')"), "");
    }
    let text = fs::read_to_string(state.join("memories/n.md")).unwrap();
    assert_eq!(text.lines().count(), 121, "{text}");
    assert_eq!(leftovers(&state.join("memories")), Vec::<String>::new());
}
