//! Keys of adapters stay where they belong: no command sees one, whichever way it is found; no error of a server shows one,
//! however it is spelled; and the commands that print them end with who needs them.

use std::time::Duration;

use serde_json::json;

use crate::chat::PRELUDE;
use crate::provider::{delta, said};
use crate::support::server::{Reply, Server};
use crate::support::{Editor, Setup, script};

const KEY: &str = "sk-kept/at+home=0123456789";

/// A server whose model calls `shell` once.
fn server() -> Server {
    Server::answering(|received, _| {
        let messages = received.body["messages"].as_array().cloned().unwrap_or_default();
        if messages.last().is_some_and(|message| message["role"] == "tool") {
            return crate::support::server::stream(&said("seen"));
        }
        let call = json!({"index": 0, "id": "c", "function": {"name": "shell", "arguments": "{}"}});
        crate::support::server::stream(&[
            delta(json!({"tool_calls": [call]})),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        ])
    })
}

/// An editor with variables of which some are keys.
fn editor(server: &Server) -> Editor {
    let editor = Setup::default()
        .env("THE_KEY", KEY)
        .env("SOMETHING_ELSE", KEY)
        .env("A_HEADER", format!("Bearer {KEY}"))
        .env("plain_looking", "https://gateway.example/v1")
        .env("UNUSED_ACCESS", "of-an-adapter-that-is-never-used")
        .env("HARMLESS", "fine")
        .env("GH_TOKEN", "for-git")
        .start();
    editor.lua(PRELUDE);
    editor.run("talk");
    editor.lua_with("url, key = ...", vec![server.url.as_str().into(), KEY.into()]);
    editor
}

#[track_caller]
fn environment(editor: &Editor, code: &str) -> String {
    editor.lua(code);
    editor.wait_ended(1);
    assert_eq!(editor.lua_text("return chat.messages[#chat.messages].content"), "seen", "{code}: {}", editor.buffer());
    editor.lua_text("return environment")
}

// Commands ------------------------------------------------------------------------------------------------------------

#[test]
fn no_command_sees_a_key_whichever_way_it_is_found() {
    let server = server();
    let editor = editor(&server);
    let header = "headers = { Authorization = 'Bearer ' .. vim.env.THE_KEY }";
    for (way, code) in [
        ("a variable", "talk({ env = { api_key = 'THE_KEY' } })"),
        ("a variable of any name", "talk({ env = { api_key = 'SOMETHING_ELSE' } })"),
        ("a field of any name", "talk({ env = { api_key = 'THE_KEY', whatever = 'UNUSED_ACCESS' } })"),
        ("a command", "talk({ env = { api_key = [[cmd:printf %s \"$THE_KEY\"]] } })"),
        ("a function", "talk({ env = { api_key = function() return os.getenv('THE_KEY') end } })"),
        ("plain text", "talk({ env = { api_key = os.getenv('THE_KEY') } })"),
        (
            "prepare",
            "talk({ handlers = { request = { prepare = function(_, done) done({ api_key = os.getenv('THE_KEY') }) end } } })",
        ),
        (
            "prepare, later",
            "talk({ handlers = { request = { prepare = function(_, done)
               vim.defer_fn(function() done({ api_key = os.getenv('THE_KEY') }) end, 20) end } } })",
        ),
        (
            "a path of the schema",
            "talk({ env = { api_key = 'schema.secret.default' }, schema = { secret = { default = os.getenv('THE_KEY') } } })",
        ),
        ("a header", &format!("talk({{ env = {{ api_key = '' }}, {header} }})")),
        (
            "the URL",
            "talk({ env = { api_key = '' }, url = url .. '/v1/chat/completions?key=' .. vim.uri_encode(vim.env.THE_KEY, 'rfc2396') })",
        ),
        (
            "a hook that sets it",
            "talk({ handlers = { lifecycle = { setup = function(self) self.env.api_key = 'THE_KEY' return true end } } })",
        ),
        (
            "a parameter of a hook",
            "talk({ env = { api_key = '' }, handlers = { request = { prepare = function(self, done)
               self.headers['X-Key'] = '${late}' done({ late = vim.env.THE_KEY }) end } } })",
        ),
    ] {
        let seen = environment(&editor, code);
        assert!(!seen.contains(KEY), "{way}: {seen}");
        assert!(seen.contains("HARMLESS=fine\n") && seen.contains("PATH=") && seen.contains("HOME="), "{way}: {seen}");
        assert!(seen.contains("GH_TOKEN=for-git\n"), "{way}: {seen}");
    }
    editor.assert_quiet();
}

#[test]
fn no_command_sees_what_an_adapter_names_that_is_never_used() {
    for (way, adapter) in [
        ("a variable of any name", "{ wire = 'openai', env = { api_key = 'UNUSED_ACCESS' } }"),
        ("any field", "{ wire = 'openai', env = { whatever = 'UNUSED_ACCESS' } }"),
        ("a function that makes it", "function() return { wire = 'openai', env = { api_key = 'UNUSED_ACCESS' } } end"),
        ("plain text", "{ wire = 'openai', env = { api_key = vim.env.UNUSED_ACCESS } }"),
        ("a header", "{ wire = 'openai', headers = { ['x-key'] = vim.env.UNUSED_ACCESS } }"),
        (
            "a header with a scheme",
            "{ wire = 'openai', headers = { Authorization = 'Bearer ' .. vim.env.UNUSED_ACCESS } }",
        ),
        ("the URL", "{ wire = 'openai', url = 'https://host.example/?key=' .. vim.env.UNUSED_ACCESS }"),
        ("the user of the URL", "{ wire = 'openai', url = 'https://me:' .. vim.env.UNUSED_ACCESS .. '@host.example' }"),
        (
            "a path of the schema",
            "{ wire = 'openai', env = { k = 'schema.s.default' }, schema = { s = { default = vim.env.UNUSED_ACCESS } } }",
        ),
    ] {
        let server = server();
        let editor = editor(&server);
        let seen = environment(&editor, &format!("talk({{}}, {{ unused = {adapter} }})"));
        assert!(!seen.contains("of-an-adapter-that-is-never-used"), "{way}: {seen}");
        assert!(seen.contains("HARMLESS=fine\n"), "{way}: {seen}");
    }
}

#[test]
fn no_command_sees_the_key_of_another_chats_adapter_or_of_the_judge() {
    for code in [
        "require('lathe').chat({ hidden = true, adapter = require('lathe.adapters').extend('openai_compatible',
           { env = { api_key = 'UNUSED_ACCESS' } }) })
         talk({})",
        script("key_of_judge").as_str(),
    ] {
        let server = server();
        let editor = editor(&server);
        let seen = environment(&editor, code);
        assert!(!seen.contains("of-an-adapter-that-is-never-used"), "{seen}");
        assert!(seen.contains("HARMLESS=fine\n"), "{seen}");
    }
}

#[test]
fn keep_env_keeps_a_variable_and_no_other_of_the_same_value() {
    let server = server();
    let editor = editor(&server);
    for code in [
        "talk({ env = { api_key = 'THE_KEY' } }, {}, { 'THE_KEY' })",
        "talk({ env = { api_key = function() return vim.env.THE_KEY end } }, {}, { 'THE_KEY' })",
    ] {
        let seen = environment(&editor, code);
        assert!(seen.contains(&format!("THE_KEY={KEY}\n")), "{seen}");
        assert!(!seen.contains("SOMETHING_ELSE") && !seen.contains("A_HEADER"), "{seen}");
    }
}

#[test]
fn a_key_command_sees_what_it_names_and_no_other_key_and_gives_its_key_again() {
    let server = server();
    let editor = editor(&server);
    let listing = editor.home.path().join("seen");
    let code = format!(
        "talk({{ env = {{ api_key = [[cmd:env > '{}'; printf %s \"$THE_KEY\"]] }} }},
           {{ unused = {{ wire = 'openai', env = {{ api_key = 'UNUSED_ACCESS' }} }}, named = {{ wire = 'openai', env = {{ k = 'THE_KEY' }} }} }})",
        listing.display()
    );
    // The second chat knows the value, which must not take the variable from the command that reads it.
    for _ in 0..2 {
        let seen = environment(&editor, &code);
        assert!(!seen.contains(KEY) && !seen.contains("of-an-adapter"), "{seen}");
        let seen = std::fs::read_to_string(&listing).unwrap();
        assert!(seen.contains(&format!("THE_KEY={KEY}\n")) && seen.contains("TERM=xterm-256color\n"), "{seen}");
        assert!(!seen.contains("of-an-adapter-that-is-never-used"), "{seen}");
    }
    assert_eq!(server.received()[0].header("authorization"), Some(&*format!("Bearer {KEY}")));
}

// What servers say ----------------------------------------------------------------------------------------------------

/// A key as servers may write it.
fn spellings() -> Vec<String> {
    let each = |spell: &dyn Fn(char) -> String| KEY.chars().map(spell).collect::<String>();
    vec![
        KEY.to_owned(),
        KEY.replace('/', "\\/"),
        each(&|letter| format!("\\u{:04x}", u32::from(letter))),
        each(&|letter| if letter == 's' { "\\u0073".to_owned() } else { letter.to_string() }),
        each(&|letter| format!("%{:02X}", u32::from(letter))),
        KEY.replace('/', "%2F").replace('+', "%2b").replace('=', "%3D"),
        // JSON in JSON.
        KEY.replace('/', "\\\\\\/"),
        each(&|letter| format!("\\\\u{:04x}", u32::from(letter))),
        KEY.replace('/', "%252F"),
    ]
}

#[test]
fn a_key_that_a_server_echoes_is_hidden_in_every_spelling_and_split() {
    let events = "content-type: text/event-stream\r\n";
    let json = "content-type: application/json\r\n";
    let in_pieces = |text: String, size: usize| text.into_bytes().chunks(size).map(<[u8]>::to_vec).collect();
    let mut replies = Vec::new();
    for spelled in spellings() {
        for size in [1, 7, 4096] {
            let error = format!(r#"{{"error":{{"message":"Bad key: {spelled} is refused"}}}}"#);
            replies.push(Reply::Body { status: 401, headers: json, pieces: in_pieces(error.clone(), size) });
            replies.push(Reply::Body {
                status: 200,
                headers: events,
                pieces: in_pieces(format!("data: {error}\n\n"), size),
            });
        }
        let page = format!("<html><title>Bad key: {spelled} is refused</title></html>");
        let html = "content-type: text/html\r\n";
        replies.push(Reply::Body { status: 403, headers: html, pieces: vec![page.into_bytes()] });
    }
    let count = replies.len();
    let server = Server::start(replies);
    let editor = editor(&server);
    editor.lua("talk({ env = { api_key = 'THE_KEY' }, opts = { retries = 0 } })");
    for turn in 1..=count {
        editor.wait_ended(turn);
        let buffer = editor.buffer();
        assert!(buffer.contains("Bad key: [hidden] is refused"), "{turn}: {buffer}");
        assert!(!buffer.contains("0123456789") && !buffer.contains("sk-"), "{turn}: {buffer}");
        if turn < count {
            editor.lua("chat:clear() send('again')");
        }
    }
    assert_eq!(server.received().len(), count);
    let log = editor.lua_text("return require('lathe.log').path");
    let log = std::fs::read_to_string(log).unwrap_or_default();
    assert!(!log.contains("0123456789"), "{log}");
}

// Commands that print keys --------------------------------------------------------------------------------------------

#[test]
fn a_key_command_that_fails_shows_the_last_lines_of_its_stderr_and_nothing_of_its_stdout() {
    let server = server();
    let editor = editor(&server);
    for (command, said) in [
        ("echo half-of-a-key; echo first >&2; echo locked >&2; exit 3", "(exit code 3): first"),
        ("echo half-of-a-key; for i in 1 2 3 4 5 6; do echo line $i >&2; done; exit 1", "(exit code 1): line 4"),
        ("echo nothing to see >&2", "(exit code 0): nothing to see"),
        ("echo half-of-a-key; echo so: half-of-a-key >&2; exit 2", "(exit code 2): so: [hidden]"),
        ("kill -9 $$", "SIGKILL"),
        ("no-such-program-here", "no-such-program-here"),
        ("printf '\\033[31mred\\033[0m\\n' >&2; exit 4", "(exit code 4): red"),
    ] {
        editor.lua_with("talk({ env = { api_key = 'cmd:' .. ... } })", vec![command.into()]);
        editor.wait_ended(1);
        let buffer = editor.buffer();
        assert!(buffer.contains("adapters.http.own.env.api_key: the command"), "{command}: {buffer}");
        assert!(buffer.contains(said) && !buffer.contains("half-of-a-key"), "{command}: {buffer}");
    }
    assert!(!editor.buffer().contains("line 3"));
    assert!(server.received().is_empty());
}

/// The processes whose arguments hold this text.
fn running(mark: &str) -> usize {
    let output = std::process::Command::new("ps").args(["-A", "-o", "stat=,args="]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter(|line| line.contains(mark) && !line.starts_with('Z')).count()
}

/// A text that no other process has in its arguments.
fn mark(number: u32) -> String {
    format!("{}.{number}", 600_000 + std::process::id())
}

#[test]
fn a_key_command_ends_with_stop_close_and_exit() {
    for (number, end) in
        (0..).zip(["chat:stop()", "chat:close()", "vim.api.nvim_buf_delete(chat.bufnr, { force = true })"])
    {
        let server = server();
        let editor = editor(&server);
        let mark = mark(number);
        let command = format!("cmd:sleep {mark} & sleep {mark}; echo never");
        editor.lua_with("talk({ env = { api_key = ... } })", vec![command.as_str().into()]);
        editor.wait_until("the command", || running(&mark) == 3);
        editor.lua(end);
        editor.wait_until("its end", || running(&mark) == 0);
        assert!(server.received().is_empty());
        editor.assert_quiet();
    }
    let server = server();
    let mut editor = editor(&server);
    let mark = mark(10);
    let command = format!("cmd:sleep {mark} & sleep {mark}; echo never");
    editor.lua_with("talk({ env = { api_key = ... } })", vec![command.as_str().into()]);
    editor.wait_until("the command", || running(&mark) == 3);
    assert_eq!(editor.quit(), Some(0));
    assert_eq!(running(&mark), 0);
}

#[test]
fn a_key_command_for_a_list_of_models_ends_with_its_chat() {
    let server = server();
    let editor = editor(&server);
    let mark = mark(20);
    editor.run_with("list_of_models", vec![mark.as_str().into()]);
    editor.wait_until("the command", || running(&mark) > 0);
    editor.lua("chat:close()");
    editor.wait_until("its end", || running(&mark) == 0);
}

#[test]
fn a_key_command_for_the_judge_ends_with_its_call() {
    let server = server();
    let editor = editor(&server);
    let mark = mark(30);
    editor.run_with("judge", vec![mark.as_str().into()]);
    editor.wait_until("the command", || running(&mark) > 0);
    editor.lua("chat:stop()");
    editor.wait_until("its end", || running(&mark) == 0);
    editor.wait_ended(1);
    assert!(server.received().is_empty());
}

#[test]
fn no_key_command_holds_the_main_loop() {
    let server = server();
    let editor = editor(&server);
    editor.lua("held = {} for i = 1, 100 do held[i] = ('x'):rep(1024 * 1024 - i) end");
    editor.watch_loop();
    environment(
        &editor,
        "talk({ env = { api_key = [[cmd:head -c 50000 /dev/zero | tr '\\0' 'x' >&2; sleep 0.2; echo key]] } })",
    );
    let gaps = editor.gaps();
    assert!(gaps.p99_ms() < Duration::from_millis(50).as_secs_f64() * 1e3, "{gaps:?}");
}
