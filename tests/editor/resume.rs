//! Saved chats: what is written, what comes back after the end of Neovim or its death at any point, and what is told when
//! nothing can be written.

mod files;
mod killed;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::chat::PRELUDE;
use crate::provider::{delta, said};
use crate::support::server::{Reply, Server, stream};
use crate::support::{Editor, Setup, saved_chat, script};

/// `connect(url)` sets up tools that end, ask, hang and run a command, and a provider; `last()` is the chat.
const TOOLS: &str = include_str!("resume/prelude.lua");

fn prepared(setup: Setup, server: &Server) -> Editor {
    let editor = setup.start();
    editor.lua(PRELUDE);
    editor.lua(TOOLS);
    editor.lua_with("connect(...)", vec![server.url.as_str().into()]);
    editor
}

fn start(server: &Server) -> Editor {
    prepared(Setup::default(), server)
}

fn chat(editor: &Editor) {
    editor.lua(r#"chat = require("lathe").chat({ tools = { "quick", "asks", "hangs", "command" } })"#);
}

fn folder(home: &Path) -> PathBuf {
    home.join("state/nvim/lathe/chats")
}

/// The saved chats' files, oldest first.
fn files(home: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        fs::read_dir(folder(home)).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The text of the only file.
fn file(home: &Path) -> String {
    match &files(home)[..] {
        [] => String::new(),
        [file] => fs::read_to_string(file).unwrap(),
        many => panic!("one file, not {many:?}"),
    }
}

#[track_caller]
fn wait_saved(editor: &Editor, text: &str) {
    editor.wait_until(&format!("{text:?} in the file"), || file(editor.home.path()).contains(text));
}

/// The events of an answer with calls: name, arguments.
fn calls(calls: &[(&str, &str)]) -> Vec<Value> {
    let calls = calls.iter().enumerate().map(|(index, (name, arguments))| {
        let function = json!({"name": name, "arguments": arguments});
        delta(json!({"tool_calls": [{"index": index, "id": format!("call_{index}"), "type": "function", "function": function}]}))
    });
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    calls.chain([end]).collect()
}

fn hang(events: &[Value]) -> Reply {
    Reply::Hang { pieces: events.iter().map(|event| format!("data: {event}\n\n").into_bytes()).collect() }
}

/// The messages of the newest request, which is valid: every call is answered at once, in order.
#[track_caller]
fn sent(server: &Server) -> Vec<Value> {
    let body = server.received().last().expect("a request").body.clone();
    let messages = body["messages"].as_array().expect("messages").clone();
    let mut awaited = std::collections::VecDeque::new();
    for message in &messages {
        if message["role"] == "tool" {
            assert_eq!(awaited.pop_front().as_ref(), message.get("tool_call_id"), "{messages:#?}");
        } else {
            assert!(awaited.is_empty(), "{messages:#?}");
            let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
            awaited.extend(calls.iter().map(|call| call["id"].clone()));
        }
    }
    assert!(awaited.is_empty(), "{messages:#?}");
    messages
}

/// Resumes the newest chat in a new Neovim with the same folders.
fn restart(home: tempfile::TempDir, server: &Server) -> Editor {
    let editor = prepared(Setup::default().home(home), server);
    editor.lua("vim.ui.select = function(items, opts, on_choice) shown = vim.tbl_map(opts.format_item, items) on_choice(items[1]) end");
    editor.lua("vim.cmd('Lathe resume')");
    editor.wait_lua("last() and #last().messages > 0");
    editor.wait_lua("(function() local c = require('lathe.core').lib.counts() return c.events + c.effects == 0 end)()");
    editor.lua("last().render:flush_all()");
    editor
}

/// Dies while `until` holds, comes back, and goes on. Returns the editor, and what the provider got next.
fn dies(replies: Vec<Reply>, until: impl FnOnce(&Editor, &Server)) -> (Editor, Server, Vec<Value>) {
    let server = Server::start(replies);
    let editor = start(&server);
    chat(&editor);
    editor.lua("send('first')");
    until(&editor, &server);
    let before = server.received().len();
    let editor = restart(editor.kill(), &server);
    editor.lua("send('second', last())");
    editor.wait_until("the next request", || server.received().len() > before);
    editor.wait_ended(1);
    let messages = sent(&server);
    assert_eq!(messages.last().unwrap()["content"], "second");
    let prompts = messages.iter().filter(|message| message["role"] == "system" && message["content"] == "Be brief.");
    assert_eq!(prompts.count(), 1, "{messages:#?}");
    let tools = server.received().last().unwrap().body["tools"].as_array().map_or(0, Vec::len);
    assert_eq!(tools, 4, "the tools are offered again");
    editor.assert_no_fault();
    (editor, server, messages)
}

/// The results among the messages.
fn results(messages: &[Value]) -> Vec<String> {
    let tools = messages.iter().filter(|message| message["role"] == "tool");
    tools.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

fn done() -> Reply {
    stream(&said("done"))
}

#[test]
fn a_resumed_chat_looks_as_it_did_and_its_messages_are_the_same() {
    let shown = r#"{"n": 2, "display": "for the user\nonly"}"#;
    let replies = vec![
        stream(&calls(&[("quick", "{\"n\": 1}"), ("quick", shown), ("unknown", "{}")])),
        stream(&said("# An answer\n\n- with\n- markdown\n")),
        stream(&calls(&[("asks", "{}")])),
        done(),
    ];
    let server = Server::start(replies);
    let mut editor = start(&server);
    editor.lua(r#"chat = require("lathe").chat({ tools = { "asks" } })"#);
    editor.lua("send('Use the @{quick} tool\\n\\nthrice')");
    editor.wait_ended(1);
    editor.lua("send('Now ask')");
    editor.wait_screen("Run the \"asks\" tool?");
    editor.lua("require('lathe.core').lib.answer({ chat = chat.id, call = chat.questions[1].call.id, answer = 'reject', reason = 'no' })");
    editor.wait_ended(2);
    let look = "chat.render:flush_all() return chat.render:snapshot().lines";
    let marks = script("marks");
    let (lines, facts) = (editor.lua(look), editor.lua(&marks));
    let messages = editor.lua("return vim.inspect(chat.messages)");
    assert_eq!(editor.quit(), Some(0));

    let editor = restart(editor.kill(), &server);
    editor.lua("chat = last()");
    assert_eq!(editor.lua(look), lines);
    assert_eq!(editor.lua(&marks), facts);
    assert_eq!(editor.lua("return vim.inspect(chat.messages)"), messages);
    assert_eq!(
        editor.lua_text("return table.concat(vim.fn.sort(vim.tbl_keys(chat.tool_registry.in_use)), ' ')"),
        "asks quick"
    );
    assert!(editor.lua_text("return shown[1]").ends_with(" · Use the @{quick} tool"), "{}", editor.lua("return shown"));
    editor.assert_no_fault();
}

#[test]
fn a_chat_that_is_open_here_is_shown_and_one_that_is_open_elsewhere_goes_on_in_a_copy() {
    let server = Server::start(vec![done(), done(), done()]);
    let editor = start(&server);
    chat(&editor);
    editor.lua("send('hello')");
    editor.wait_ended(1);
    wait_saved(&editor, "turn_end");
    editor.lua(
        "chat:hide() vim.ui.select = function(items, opts, done) shown = opts.format_item(items[1]) done(items[1]) end",
    );
    editor.lua("vim.cmd('Lathe resume')");
    editor.wait_lua("chat:is_visible()");
    assert!(editor.lua_text("return shown").ends_with(" · hello (open)"));
    let completed =
        "local ids = vim.fn.getcompletion('Lathe resume ', 'cmdline') return #ids == 1 and ids[1] == chat.saved_id";
    assert!(editor.lua_bool(completed), "ids are completed");
    assert_eq!(editor.lua_int("return require('lathe.core').lib.counts().chats"), 1);

    let state = editor.home.path().join("state");
    let mut other = prepared(Setup::default().env("XDG_STATE_HOME", state.to_str().unwrap()), &server);
    let path = files(editor.home.path()).remove(0);
    other.lua_with("require('lathe').resume(...)", vec![path.to_str().unwrap().into()]);
    other.wait_lua("last() and #last().messages > 1");
    other.wait_lua("notes[1]");
    assert_eq!(
        other.lua_text("return notes[1]"),
        "lathe: this chat is open in another Neovim: you go on with a copy of it"
    );
    other.lua("send('more', last())");
    other.wait_ended(1);
    other.wait_until("the copy", || files(editor.home.path()).len() == 2);
    editor.lua("send('here too')");
    editor.wait_ended(2);
    assert_eq!(other.quit(), Some(0));
    editor.lua("chat:close()");
    editor.wait_lua("require('lathe.core').lib.counts().chats == 0");

    // Both are whole, and neither is locked any more.
    for (id, text) in [(0, "here too"), (1, "more")] {
        let path = files(editor.home.path()).remove(id);
        editor.lua_with("notes = {} require('lathe').resume(...)", vec![path.to_str().unwrap().into()]);
        editor.wait_lua("last() and #last().messages == 4");
        let said = editor.lua_text("return last().messages[3].content");
        assert_eq!((said.as_str(), editor.lua_int("return #notes")), (text, 0));
        editor.lua("last():close()");
        editor.wait_lua("not last()");
    }
}

impl Editor {
    /// Nothing went wrong but the saving of the chat, which is told in words.
    #[track_caller]
    fn assert_no_fault_but_saving(&self) {
        let notes = self.lua_text("return table.concat(notes, '\\n')");
        for sign in ["traceback", "internal error", "stack"] {
            assert!(!notes.contains(sign) && !self.messages().contains(sign), "{notes}\n{}", self.messages());
        }
    }
}

#[test]
fn a_cleared_chat_comes_back_empty_and_is_not_listed() {
    let server = Server::start(vec![done(), done()]);
    let mut editor = start(&server);
    chat(&editor);
    editor.lua("send('secret')");
    editor.wait_ended(1);
    editor.lua("chat:clear()");
    wait_saved(&editor, "cleared");
    editor.lua("chat:close()");
    editor.wait_lua("not last()");
    editor.lua("vim.cmd('Lathe resume')");
    editor.wait_lua("notes[1]");
    assert_eq!(editor.lua_text("return notes[1]"), "lathe: no chat is saved");
    assert_eq!(editor.quit(), Some(0));
}

#[test]
fn an_adapter_tools_and_a_folder_that_are_gone_are_told_and_the_chat_goes_on() {
    let server = Server::start(vec![done(), done()]);
    let editor = start(&server);
    fs::create_dir(editor.home.path().join("project")).unwrap();
    editor.lua("vim.cmd.cd('project')");
    editor.lua(r#"chat = require("lathe").chat({ tools = { "quick", "asks" } })"#);
    editor.lua("send('hello')");
    editor.wait_ended(1);
    wait_saved(&editor, "turn_end");
    let home = editor.kill();
    fs::remove_dir(home.path().join("project")).unwrap();
    let editor = Setup::default().home(home).start();
    editor.lua(PRELUDE);
    editor.lua(TOOLS);
    editor.run("with_less");
    editor.wait_lua("last() and #last().messages > 1 and #notes == 3");
    let notes = editor.lua_text("return table.concat(notes, '\\n')");
    assert!(notes.contains("project is gone: its tools work in "), "{notes}");
    assert!(notes.contains("there is no adapter \"local_server\"") && notes.contains("goes on with fake"), "{notes}");
    assert!(notes.contains("There is no tool \"asks\"."), "{notes}");
    editor.lua("send('more', last())");
    editor.wait_buffer("scripted answer");
}

#[test]
fn a_chat_of_5000_messages_comes_back_without_holding_the_editor() {
    let server = Server::start(vec![]);
    let editor = start(&server);
    let folder = folder(editor.home.path());
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("1-1-1.jsonl"), saved_chat(1250)).unwrap();
    editor.watch_loop();
    editor.lua("require('lathe').resume('1-1-1')");
    editor.wait_lua("last() and #last().messages == 5000 and #last().render.queue == 0");
    let gaps = editor.gaps();
    assert!(gaps.max_ms() < 500.0, "{} ms", gaps.max_ms());
    editor.wait_buffer("answer 1249");
    assert_eq!(editor.lua_text("return roles():sub(1, 31)"), "user llm tool llm user llm tool");
}
