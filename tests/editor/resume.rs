//! Saved chats: what is written, what comes back after the end of Neovim or its death at any point, and what is told when
//! nothing can be written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::chat::PRELUDE;
use crate::provider::{delta, said};
use crate::support::server::{Reply, Server, stream};
use crate::support::{Editor, Setup, saved_chat};

/// `connect(url)` sets up tools that end, ask, hang and run a command, and a provider; `last()` is the chat.
const TOOLS: &str = r#"
notes = {}
vim.notify = function(text) notes[#notes + 1] = text end
function connect(url, opts)
  vim.env.TEST_PROVIDER_KEY = "sk-test"
  local tools = {
    quick = tool("quick", { function(_, args) return { status = "success", data = "quick " .. (args.n or "") } end }, {
      output = {
        cmd_string = function(self) return "number " .. (self.args.n or "none") end,
        success = function(self, stdout, meta)
          meta.tools.chat:add_tool_output(self, { content = stdout[#stdout], display = self.args.display })
        end,
      },
    }),
    asks = tool("asks", { function() vim.fn.writefile({}, "ran") end }, { opts = { require_approval_before = true } }),
    hangs = tool("hangs", { function() hanging = true end }),
    command = tool("command", { "touch running; while [ -e running ]; do sleep 0.05; done" }),
  }
  require("lathe").setup(vim.tbl_deep_extend("force", {
    adapters = { http = { local_server = require("lathe.adapters").extend("openai_compatible", {
      formatted_name = "Local",
      env = { url = url, api_key = "TEST_PROVIDER_KEY" },
      schema = { model = { default = "small" } },
    }) } },
    interactions = { chat = { adapter = "local_server", tools = tools, system_prompt = "Be brief." } },
  }, opts or {}))
end
function last() return require("lathe").last_chat() end
function roles()
  return table.concat(vim.tbl_map(function(message) return message.role end, last().messages), " ")
end
"#;

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
fn killed_while_idle_nothing_is_lost() {
    let replies = vec![stream(&calls(&[("quick", "{\"n\": 1}")])), stream(&said("first answer")), done()];
    let (editor, _, messages) = dies(replies, |editor, _| {
        editor.wait_ended(1);
        wait_saved(editor, "turn_end");
    });
    assert_eq!(results(&messages), ["quick 1"]);
    assert!(messages.iter().any(|message| message["content"] == "first answer"));
    assert!(!editor.buffer().contains("interrupted"), "{}", editor.buffer());
}

#[test]
fn killed_while_text_streams_what_had_come_is_kept() {
    let replies = vec![hang(&[delta(json!({"content": "half an ans"}))]), done()];
    let (editor, _, messages) = dies(replies, |editor, _| wait_saved(editor, "half an ans"));
    assert!(messages.iter().any(|message| message["role"] == "assistant" && message["content"] == "half an ans"));
    assert!(editor.buffer().contains("The last answer is incomplete."), "{}", editor.buffer());
}

#[test]
fn half_an_answer_that_was_saved_can_be_asked_for_again_and_the_message_before_it_edited() {
    let replies = vec![hang(&[delta(json!({"content": "half an ans"}))]), stream(&said("a whole answer"))];
    let server = Server::start(replies);
    let editor = start(&server);
    chat(&editor);
    editor.lua("send('Use @{quick} first')");
    wait_saved(&editor, "half an ans");
    let editor = restart(editor.kill(), &server);
    editor.lua("last():retry()");
    editor.wait_ended(1);
    let messages = sent(&server);
    assert_eq!(messages.last().unwrap()["content"], "Use the quick tool first");
    editor.wait_buffer("a whole answer");
    assert!(!editor.buffer().contains("half an ans"), "{}", editor.buffer());
    editor.lua("last():edit_last()");
    editor.wait_lua("last().render:input() == 'Use @{quick} first'");
    assert!(!editor.buffer().contains("a whole answer"), "{}", editor.buffer());
}

#[test]
fn killed_while_arguments_stream_the_call_is_gone_and_the_text_kept() {
    let call = json!({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "quick", "arguments": "{\"n"}}]});
    let replies = vec![hang(&[delta(json!({"content": "let me"})), delta(call)]), done()];
    let (_, _, messages) = dies(replies, |editor, _| wait_saved(editor, "let me"));
    assert!(messages.iter().any(|message| message["role"] == "assistant" && message["content"] == "let me"));
    assert!(messages.iter().all(|message| message.get("tool_calls").is_none()), "{messages:#?}");
}

#[test]
fn killed_at_a_question_with_calls_behind_it_they_come_back_as_not_run() {
    let replies = vec![stream(&calls(&[("quick", "{\"n\": 1}"), ("asks", "{}"), ("quick", "{\"n\": 2}")])), done()];
    let (editor, _, messages) = dies(replies, |editor, _| {
        editor.wait_screen("Run the \"asks\" tool?");
        wait_saved(editor, "asked");
    });
    let results = results(&messages);
    assert_eq!(results[0], "quick 1");
    assert!(results[1].starts_with("not run: ") && results[1].contains("being asked"), "{results:?}");
    assert!(results[2].starts_with("not run: "), "{results:?}");
    let buffer = editor.buffer();
    assert!(buffer.contains("2 calls were not run: asks, quick."), "{buffer}");
    assert!(buffer.contains("✓ quick  number 1\n  quick 1") && buffer.contains("■ asks"), "{buffer}");
    assert!(!buffer.contains("Run the \"asks\" tool?"), "no question comes back: {buffer}");
    assert!(!editor.home.path().join("ran").exists());
}

#[test]
fn killed_while_a_function_runs_its_state_is_unknown() {
    let replies = vec![stream(&calls(&[("hangs", "{}"), ("quick", "{}")])), done()];
    let (editor, _, messages) = dies(replies, |editor, _| {
        editor.wait_lua("hanging");
        wait_saved(editor, "started");
    });
    let results = results(&messages);
    assert!(results[0].starts_with("state unknown: "), "{results:?}");
    assert!(results[1].starts_with("not run: "), "{results:?}");
    assert!(editor.buffer().contains("1 call had started, and what was done is not known: hangs."));
}

#[test]
fn killed_while_a_command_runs_its_state_is_unknown() {
    let replies = vec![stream(&calls(&[("command", "{}")])), done()];
    let (editor, _, messages) = dies(replies, |editor, _| {
        editor.wait_until("the command", || editor.home.path().join("running").exists());
        wait_saved(editor, "started");
    });
    assert!(results(&messages)[0].starts_with("state unknown: "));
    // It outlived the editor.
    fs::remove_file(editor.home.path().join("running")).unwrap();
}

#[test]
fn killed_between_the_results_and_the_next_request_the_results_are_there() {
    let replies = vec![stream(&calls(&[("quick", "{\"n\": 1}"), ("quick", "{\"n\": 2}")])), hang(&[]), done()];
    let (_, _server, messages) = dies(replies, |editor, server| {
        editor.wait_until("the second request", || server.received().len() == 2);
        wait_saved(editor, "quick 2");
    });
    assert_eq!(results(&messages), ["quick 1", "quick 2"]);
}

#[test]
fn what_was_interrupted_is_told_once() {
    let (mut editor, server, _) = dies(vec![stream(&calls(&[("hangs", "{}")])), done()], |editor, _| {
        editor.wait_lua("hanging");
        wait_saved(editor, "started");
    });
    wait_saved(&editor, "turn_end");
    assert_eq!(editor.quit(), Some(0));
    let editor = restart(editor.kill(), &server);
    assert!(!editor.buffer().contains("interrupted"), "{}", editor.buffer());
    assert!(editor.buffer().contains("■ hangs"), "{}", editor.buffer());
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
    let marks = "local ns = vim.api.nvim_get_namespaces()['lathe.look'] return vim.tbl_map(function(m) return { m[2], m[4].virt_text and m[4].virt_text[1][1] or '', m[4].hl_group } end, vim.api.nvim_buf_get_extmarks(chat.bufnr, ns, 0, -1, { details = true }))";
    let (lines, facts) = (editor.lua(look), editor.lua(marks));
    let messages = editor.lua("return vim.inspect(chat.messages)");
    assert_eq!(editor.quit(), Some(0));

    let editor = restart(editor.kill(), &server);
    editor.lua("chat = last()");
    assert_eq!(editor.lua(look), lines);
    assert_eq!(editor.lua(marks), facts);
    assert_eq!(editor.lua("return vim.inspect(chat.messages)"), messages);
    assert_eq!(
        editor.lua_text("return table.concat(vim.fn.sort(vim.tbl_keys(chat.tool_registry.in_use)), ' ')"),
        "asks quick"
    );
    assert!(editor.lua_text("return shown[1]").ends_with(" · Use the @{quick} tool"), "{}", editor.lua("return shown"));
    editor.assert_no_fault();
}

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
    editor.lua(
        r#"
        require("lathe").setup({
          adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = { { text = "scripted answer" } } }) } },
          interactions = { chat = { adapter = "fake", tools = { quick = tool("quick", {}) } } },
        })
        vim.ui.select = function(items, opts, on_choice) on_choice(items[1]) end
        vim.cmd("Lathe resume")"#,
    );
    editor.wait_lua("last() and #last().messages > 1 and #notes == 3");
    let notes = editor.lua_text("return table.concat(notes, '\\n')");
    assert!(notes.contains("project is gone: its tools work in "), "{notes}");
    assert!(notes.contains("there is no adapter \"local_server\"") && notes.contains("goes on with fake"), "{notes}");
    assert!(notes.contains("There is no tool \"asks\"."), "{notes}");
    editor.lua("send('more', last())");
    editor.wait_buffer("scripted answer");
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
