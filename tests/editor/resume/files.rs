//! The files of saved chats: private, damaged, gone, on a full disk.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{chat, done, file, files, folder, prepared, restart, sent, start, wait_saved};
use crate::provider::said;
use crate::support::Setup;
use crate::support::server::{Server, stream};

#[test]
fn chats_are_private_and_none_is_made_before_the_user_says_something() {
    let server = Server::start(vec![done()]);
    let editor = start(&server);
    chat(&editor);
    editor.lua("chat:add_message({ role = 'system', content = 'x' })");
    editor.lua(r#"require("lathe").run_tool("quick", { n = 3 }, {}, function(result) ran = result.content end)"#);
    editor.wait_lua("ran == 'quick 3'");
    assert_eq!(files(editor.home.path()), Vec::<PathBuf>::new());
    editor.lua("send('hello')");
    editor.wait_ended(1);
    wait_saved(&editor, "turn_end");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let home = editor.home.path();
    assert_eq!((mode(&folder(home)), mode(&files(home)[0])), (0o700, 0o600));
    assert!(!file(home).contains("sk-test"), "no key is saved");
}

#[test]
fn nothing_is_written_when_saving_is_off() {
    let server = Server::start(vec![done()]);
    let mut editor = start(&server);
    editor.lua_with("connect(..., { interactions = { chat = { save = false } } })", vec![server.url.as_str().into()]);
    chat(&editor);
    editor.lua("send('hello')");
    editor.wait_ended(1);
    editor.lua("vim.cmd('Lathe resume')");
    editor.wait_lua("notes[1]");
    assert_eq!(editor.lua_text("return notes[1]"), "lathe: no chat is saved; interactions.chat.save is off");
    assert_eq!(editor.quit(), Some(0));
    assert!(!folder(editor.home.path()).exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_told_once_the_chat_goes_on_and_saving_begins_when_it_can() {
    let server = Server::start(vec![done(), done(), done()]);
    let editor = start(&server);
    let folder = folder(editor.home.path());
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    fs::write(&folder, "a file in its place").unwrap();
    chat(&editor);
    for turn in 1..=2 {
        editor.lua("send('hello')");
        editor.wait_ended(turn);
    }
    editor.wait_buffer("This chat is not saved: ");
    let buffer = editor.buffer();
    assert_eq!(buffer.matches("This chat is not saved: ").count(), 1, "{buffer}");
    assert!(buffer.contains(folder.to_str().unwrap()) && buffer.contains("interactions.chat.save = false"), "{buffer}");
    editor.lua("vim.cmd('checkhealth lathe')");
    assert!(editor.buffer().contains("chats cannot be saved in"), "{}", editor.buffer());
    editor.lua("vim.cmd('bwipeout') chat:open()");
    fs::remove_file(&folder).unwrap();
    editor.lua("send('again')");
    editor.wait_ended(3);
    editor.wait_buffer("This chat is saved again, in ");
    let is_whole = || file(editor.home.path()).matches("turn_end").count() == 3;
    editor.wait_until("nothing of it is lost", is_whole);
    editor.assert_no_fault_but_saving();
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_the_chat_goes_on() {
    let long = "x".repeat(20_000);
    let server = Server::start(vec![done(), stream(&said(&long)), done()]);
    // A limit on the size of files is as full as a disk can be here; the signal would end the editor.
    let limit = "trap '' XFSZ; ulimit -S -f 16";
    let editor = prepared(Setup::default().after_shell(limit), &server);
    chat(&editor);
    for turn in 1..=3 {
        editor.lua("send('hello')");
        editor.wait_ended(turn);
        // The first turn is on the disk before there is more to write in one piece with it.
        editor.wait_until("the first turn is saved", || file(editor.home.path()).contains("turn_end"));
    }
    editor.wait_buffer("This chat is not saved: ");
    assert!(editor.buffer().contains("Make room there"), "{}", editor.buffer());
    editor.assert_no_fault_but_saving();
    // What was written before is whole, and so is the rest.
    let text = file(editor.home.path());
    assert!(text.ends_with('\n') && text.contains("\"done\""), "{text}");
    let editor = restart(editor.kill(), &server);
    assert!(editor.lua_int("return #last().messages") >= 2);
}

#[test]
fn files_that_are_no_chats_are_refused_in_words_and_a_damaged_one_comes_back_as_far_as_it_goes() {
    let server = Server::start(vec![done()]);
    let editor = start(&server);
    let home = editor.home.path();
    fs::write(home.join("empty.jsonl"), "").unwrap();
    fs::write(home.join("foreign.jsonl"), "{\"a\": 1}\nhello\n").unwrap();
    fs::write(home.join("newer.jsonl"), "{\"t\":\"chat\",\"v\":99,\"created\":0,\"meta\":{}}\n").unwrap();
    for (name, words) in [
        ("empty.jsonl", "holds no chat"),
        ("foreign.jsonl", "holds no chat"),
        ("newer.jsonl", "newer version of lathe"),
        ("none.jsonl", "cannot be read"),
        (".", "not a file"),
    ] {
        let path = home.join(name);
        editor.lua_with("notes = {} require('lathe').resume(...)", vec![path.to_str().unwrap().into()]);
        editor.wait_lua("notes[1]");
        let note = editor.lua_text("return notes[1]");
        assert!(note.contains(words), "{note}");
    }
    let odd = r#"{"t":"chat","v":1,"created":0,"meta":{"cwd":"/","tools":["quick","quick"],"groups":["none"]}}
{"t":"message","message":{"User":{"content":"Hi\nthere","visible":true}}}
nonsense
{"t":"message","message":{"Llm":{"content":"","reasoning":"","calls":[{"wire_id":"x","name":"quick","arguments":"{"},{"wire_id":"x","name":"a\nb","arguments":"{}"}]}}}
{"t":"result","message":{"Tool":{"wire_id":"x","content":"r","is_error":false}}}
{"t":"look","call":"x","look":{"state":"running","head":"two\nlines","fact":"a\nb"}}
{"t":"message","mess"#;
    let path = home.join("odd.jsonl");
    fs::write(&path, odd).unwrap();
    editor.lua_with("notes = {} require('lathe').resume(...)", vec![path.to_str().unwrap().into()]);
    editor.wait_buffer("2 lines of its file could not be read.");
    let buffer = editor.buffer();
    assert!(buffer.contains("✓ two ⏎ lines"), "{buffer}");
    editor.lua("send('go on', last())");
    editor.wait_until("a request", || !server.received().is_empty());
    sent(&server);
    assert_eq!(fs::read_to_string(&path).unwrap(), odd, "a file elsewhere is not written to");
    editor.assert_no_fault();
}
