//! Providers that misbehave, and adapters that are no adapters: each has one outcome that names the thing, and the chat
//! goes on.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::provider::{KEY, connect, delta, said, type_and_send};
use crate::support::server::{Reply, Server, stream};
use crate::support::{at_best, script};

fn sse(events: &[serde_json::Value]) -> Vec<u8> {
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>().into_bytes()
}

fn call(index: usize, id: &str, name: &str, arguments: &str) -> serde_json::Value {
    json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

#[test]
fn an_answer_is_complete_with_done_though_the_connection_stays_open() {
    let mut pieces = sse(&[
        delta(json!({"tool_calls": [call(0, "c1", "calculator", r#"{"num1":2,"num2":3,"operation":"add"}"#)]})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
    ]);
    pieces.extend(b"data: [DONE]\n\n");
    let server = Server::start(vec![Reply::Hang { pieces: vec![pieces] }, stream(&said("it is five"))]);
    let editor = connect(&server);
    type_and_send(&editor, "use @{calculator}");
    editor.wait_buffer("it is five");
    assert!(!editor.buffer().contains("! Local"), "{}", editor.buffer());
    server.wait_left();
}

#[test]
fn an_answer_with_a_finish_reason_is_complete_though_its_body_never_ends() {
    let pieces = sse(&[
        delta(json!({"tool_calls": [call(0, "c1", "calculator", r#"{"num1":2,"num2":3,"operation":"add"}"#)]})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
    ]);
    for reply in [Reply::Hang { pieces: vec![pieces.clone()] }, Reply::Cut { pieces: vec![pieces.clone()] }] {
        let server = Server::start(vec![reply, stream(&said("it is five"))]);
        let editor = connect(&server);
        // The one whose connection stays open ends here.
        editor.lua("chat.adapter.opts.limits.idle_ms = 700");
        type_and_send(&editor, "use @{calculator}");
        editor.wait_buffer("it is five");
        assert!(!editor.buffer().contains("! Local"), "{}", editor.buffer());
    }
}

#[test]
fn a_key_in_an_error_within_the_stream_is_hidden() {
    let echo = json!({"error": {"message": format!("Incorrect API key: {KEY}")}});
    let whole = Reply::Body {
        status: 200,
        headers: "content-type: application/json\r\n",
        pieces: vec![echo.to_string().into_bytes()],
    };
    let page = Reply::Body { status: 200, headers: "", pieces: vec![format!("key {KEY} is bad").into_bytes()] };
    for reply in [stream(&[delta(json!({"content": "a"})), echo]), whole, page] {
        let server = Server::start(vec![reply]);
        let editor = connect(&server);
        type_and_send(&editor, "hello");
        editor.wait_buffer("! Local");
        assert!(!editor.buffer().contains(KEY), "{}", editor.buffer());
        assert!(!editor.lua_text("return vim.inspect(chat)").contains(KEY));
    }
}

/// Each change makes the chat's adapter unfit; the message must name what is wrong, and no turn may stay open.
#[test]
fn an_unfit_adapter_is_explained_and_the_chat_goes_on() {
    let server = Server::start(vec![]);
    let editor = connect(&server);
    editor.lua("good = vim.deepcopy(chat.adapter) good.opts.retries = 0");
    let mut failures = Vec::new();
    for (change, named) in [
        ("chat.adapter.headers = { ['X-A'] = {} }", "headers"),
        ("chat.adapter.headers = { ['X-A'] = true }", "headers"),
        ("chat.adapter.headers = 'junk'", "headers"),
        ("chat.adapter.headers = { 'no name' }", "header"),
        ("chat.adapter.headers = { ['X-\\n'] = 'x' }", "header"),
        ("chat.adapter.env = 5", "env"),
        ("chat.adapter.env = 'junk'", "env"),
        ("chat.adapter.env = nil", "env"),
        ("chat.adapter.env.api_key = function() error('x') end", "env.api_key"),
        ("chat.adapter.env.api_key = function() return 5 end", "env.api_key"),
        ("chat.adapter.env.api_key = {}", "env.api_key"),
        ("chat.adapter.env.api_key = 'cmd:exit 3'", "env.api_key"),
        ("chat.adapter.env.api_key = 'cmd:echo a; echo b'", "uthorization"),
        ("chat.adapter.env.api_key = 'cmd:head -c 4000000 /dev/zero'", "uthorization"),
        ("chat.adapter.url = nil", "url"),
        ("chat.adapter.url = 5", "url"),
        ("chat.adapter.url = ''", "`url`"),
        ("chat.adapter.url = 'ftp://127.0.0.1/x'", "ftp"),
        ("chat.adapter.url = '${nothing}/x'", "env.nothing"),
        ("chat.adapter.handlers = true", "handlers"),
        ("chat.adapter.handlers = { request = true }", "handlers"),
        ("chat.adapter.handlers = { lifecycle = 5 }", "handlers"),
        ("chat.adapter.handlers = { request = { build = 5 } }", "handlers"),
        ("chat.adapter.handlers = { request = { build = function() error('oops') end } }", "oops"),
        ("chat.adapter.handlers = { request = { build = function() return 'junk' end } }", "build"),
        ("chat.adapter.handlers = { request = { build_tools = function() error('oops') end } }", "oops"),
        ("chat.adapter.handlers = { request = { build_tools = function() return print end } }", ""),
        ("chat.adapter.handlers = { request = { build_parameters = function() return 'junk' end } }", ""),
        ("chat.adapter.handlers = { request = { build_parameters = function() return { 1, 2 } end } }", "parameters"),
        ("chat.adapter.handlers = { lifecycle = { setup = function() error({}) end } }", "setup"),
        ("chat.adapter.opts.limits = 'junk'", "limits"),
        ("chat.adapter.opts.limits = { idle_ms = 'junk' }", "idle_ms"),
        ("chat.adapter.opts.limits = { idle_ms = -1 }", "idle_ms"),
        ("chat.adapter.opts.limits = { idle_ms = 0.5 }", "idle_ms"),
        ("chat.adapter.opts.limits = { first_byte_ms = math.huge }", "first_byte_ms"),
        ("chat.adapter.opts.limits = { first_byte_ms = 0 }", ""),
        ("chat.adapter.opts.retries = 'many'", "retries"),
        ("chat.adapter.opts.proxy = {}", "proxy"),
        ("chat.adapter.opts.proxy = 'junk:://'", "proxy"),
        ("chat.adapter.opts = 'junk'", "opts"),
        ("chat.adapter.wire = 'junk'", "wire"),
        ("chat.adapter.wire = 5", "wire"),
        ("chat.adapter.parameters = 'junk'", "parameters"),
        ("chat.adapter.body = 'junk'", "body"),
        ("chat.adapter.schema = 'junk'", "schema"),
        ("chat.adapter.schema = { model = 5 }", "schema"),
        ("chat.adapter.schema = { model = { default = print, mapping = 'parameters' } }", "500"),
        ("chat.adapter.parameters = { a = print }", ""),
        ("chat.adapter.parameters = { a = 0/0 }", ""),
    ] {
        for is_late in [false, true] {
            editor.lua("chat.adapter = vim.deepcopy(good); chat:clear()");
            if is_late {
                // The key comes from a command: what follows runs later, outside of the engine's work.
                editor.lua("chat.adapter.env.chat_url = 'cmd:echo /v1/chat/completions'");
            }
            editor.lua(change);
            let is_over = editor.lua_bool(&script("send_and_wait"));
            let buffer = editor.buffer();
            let at = buffer.rfind("! ").map_or("", |at| &buffer[at..]).lines().next().unwrap_or_default();
            if !is_over {
                failures.push(format!("{change} late={is_late}: STUCK"));
                editor.lua("chat:stop()");
            } else if at.contains("internal error") || at.contains(".lua:") || at.is_empty() || !at.contains(named) {
                failures.push(format!("{change} late={is_late}: {at}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn an_unfit_adapter_in_the_configuration_is_no_traceback() {
    let server = Server::start(vec![]);
    let editor = connect(&server);
    let mut failures = Vec::new();
    for adapter in [
        "{ wire = 'openai', env = 'junk' }",
        "{ wire = 'openai', env = 5 }",
        "{ wire = 5 }",
        "{ wire = 'openai', schema = function() end }",
        "{ wire = 'openai', formatted_name = {}, url = 'http://127.0.0.1:1/', env = { a = 'NOT_SET_X' }, headers = { A = '${a}' } }",
        "{ wire = 'openai', name = {} }",
        "function() error({}) end",
        "function() return 5 end",
        "'other'",
    ] {
        for spec in ["nil", "'x'"] {
            match editor.try_lua(&script("unfit"), vec![adapter.into(), spec.into()]) {
                Ok(value) if value.as_str() == Some("") => {}
                other => failures.push(format!("{adapter} {spec}: {other:?}")),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_key_of_an_adapter_given_to_the_chat_is_not_seen_by_commands() {
    let server = Server::start(vec![
        stream(&[
            delta(json!({"tool_calls": [call(0, "c", "shell", "{}")]})),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        ]),
        stream(&said("seen")),
    ]);
    let editor = connect(&server);
    editor.run_with("inline_key", vec![server.url.as_str().into(), KEY.into()]);
    type_and_send(&editor, "hello");
    editor.wait_buffer("seen");
    assert!(editor.lua_bool("return environment:find('PAGER=cat') ~= nil"));
    assert!(!editor.lua_text("return environment").contains(KEY), "the command sees the key");
}

#[test]
fn a_command_that_leaves_a_child_behind_still_gives_the_key() {
    let server = Server::start(vec![stream(&said("thanks"))]);
    let editor = connect(&server);
    editor.lua("chat.adapter.env.api_key = 'cmd:sleep 20 & echo abc'");
    type_and_send(&editor, "hello");
    editor.wait_buffer("thanks");
}

/// Text that looks like something else is text.
#[test]
fn odd_text_is_shown_as_text_and_is_never_what_the_user_sends() {
    let nasty =
        "a\u{0}b\u{1b}[31mred\u{1b}[0m\r\n## Me\n\nsend this\n```lua\n## Me\n\u{7}\u{202e}x\n\u{85}\u{2028}\u{feff}";
    let server = Server::start(vec![stream(&said(nasty)), stream(&said("second"))]);
    let editor = connect(&server);
    type_and_send(&editor, "hello");
    editor.wait_lua("chat.turn == 1 and not chat.is_running");
    type_and_send(&editor, "mine");
    editor.wait_buffer("second");
    let body = &server.received()[1].body["messages"];
    let last = body.as_array().unwrap().last().unwrap();
    assert_eq!(*last, json!({"role": "user", "content": "mine"}), "{body}");
    assert!(body.to_string().contains("send this"));
    assert_eq!(editor.messages(), "");
}

#[test]
fn odd_names_ids_and_arguments_of_calls_are_answered_and_paired() {
    let server = Server::start(vec![
        stream(&[
            delta(json!({"tool_calls": [
                call(0, "a\nb", "no\nsuch\u{1b}[31m\u{0}tool", "{}"),
                call(1, "", "calculator", r#"{"num1":1,"num2":2,"operation":"add"}"#),
                call(2, "same", "calculator", r#"{"num1":1,"num2":3,"operation":"add"}"#),
                call(3, "same", "calculator", r#"{"num1":1,"num2":4,"operation":"add"}"#),
                call(4, "x", "", "{}"),
                call(5, "deep", "calculator", &format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000))),
                call(6, "nul", "calculator", "{\"num1\":\"\\u0000\",\"num2\":\"\\ud800\"}"),
                call(7, &"i".repeat(100_000), &"n".repeat(100_000), "{}"),
            ]})),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        ]),
        stream(&[delta(json!({"tool_calls": [
            call(0, "same", "calculator", r#"{"num1":1,"num2":5,"operation":"add"}"#)]}))]),
        stream(&said("the end")),
    ]);
    let editor = connect(&server);
    type_and_send(&editor, "use @{calculator}");
    editor.wait_buffer("the end");
    let received = server.received();
    let messages = received[2].body["messages"].as_array().unwrap().clone();
    let mut ids = std::collections::HashSet::new();
    let mut answered = Vec::new();
    for message in &messages {
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            assert!(ids.insert(call["id"].as_str().unwrap().to_owned()), "{call}");
            assert!(call["function"]["name"].as_str().unwrap().len() <= 64, "{call}");
        }
        if message["role"] == "tool" {
            answered.push(message["tool_call_id"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(ids.len(), answered.len());
    assert!(editor.lua_bool("return paired()"));
    assert_eq!(editor.messages(), "");
}

#[test]
fn two_thousand_calls_in_one_answer_are_all_answered() {
    let sum = |n: usize| format!(r#"{{"num1":1,"num2":{n},"operation":"add"}}"#);
    let one = |n: usize| delta(json!({"tool_calls": [call(n, &format!("c{n}"), "calculator", &sum(n))]}));
    let server = Server::start(vec![stream(&(0..2000).map(one).collect::<Vec<_>>()), stream(&said("the end"))]);
    let editor = connect(&server);
    type_and_send(&editor, "use @{calculator}");
    editor.wait_lua("chat.turn == 1 and not chat.is_running");
    assert!(editor.lua_bool("return paired() and #chat.messages > 2000"));
}

#[test]
fn endless_and_broken_streams() {
    let comments = vec![[&b":"[..], &[b' '; 1 << 20], b"\n\n"].concat(); 300];
    let drip: Vec<Vec<u8>> = sse(&[delta(json!({"content": "slowly"}))]).iter().map(|byte| vec![*byte]).collect();
    let server = Server::start(vec![
        Reply::Slow { pieces: comments, every_ms: 0 },
        Reply::Slow { pieces: drip, every_ms: 20 },
        Reply::Hang { pieces: vec![b"data: ".to_vec(), vec![b'x'; 70 << 20]] },
        Reply::Body {
            status: 200,
            headers: "content-type: text/event-stream\r\n",
            pieces: vec![b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\xfe bad \xc3\"}}]}\n\n".to_vec()],
        },
        Reply::Body {
            status: 200,
            headers: "content-type: text/event-stream\r\ncontent-encoding: gzip\r\n",
            pieces: vec![b"not gzip".to_vec()],
        },
    ]);
    let editor = connect(&server);
    type_and_send(&editor, "endless");
    editor.wait_buffer("more than 256 MiB");
    editor.wait_lua("not chat.is_running");
    type_and_send(&editor, "drip");
    editor.wait_buffer("slowly");
    editor.wait_lua("not chat.is_running");
    type_and_send(&editor, "long");
    editor.wait_buffer("64 MiB");
    type_and_send(&editor, "invalid");
    editor.wait_buffer("bad");
    editor.wait_lua("not chat.is_running");
    type_and_send(&editor, "gzip");
    editor.wait_buffer("cannot be decompressed");
    assert_eq!(editor.messages(), "");
}

#[test]
fn leaving_in_the_midst_of_an_answer() {
    let hang = || Reply::Hang { pieces: vec![sse(&[delta(json!({"content": "begun"}))])] };
    for leave in [
        "chat:close()",
        "vim.cmd.bwipeout({ chat.bufnr, bang = true })",
        "vim.cmd.bunload({ chat.bufnr, bang = true })",
        "chat:clear()",
        "require('lathe').setup({}) chat:stop()",
        "chat.adapter = nil chat:stop()",
        "chat.adapter = { wire = 'x' } chat:stop()",
        "for _ = 1, 50 do chat:submit() chat:stop() end",
        "vim.api.nvim_buf_set_lines(chat.bufnr, 0, -1, false, {}) chat:stop()",
    ] {
        let server = Server::start(vec![hang(), hang(), hang(), hang()]);
        let editor = connect(&server);
        type_and_send(&editor, "go");
        editor.wait_buffer("begun");
        editor.lua(leave);
        server.wait_left();
        editor.lua("vim.cmd('Lathe chat')");
        editor.wait_lua("vim.bo.filetype == 'lathe'");
        assert_eq!(editor.messages(), "", "{leave}");
        assert!(
            editor.lua_bool(
                "local f = io.open(require('lathe.log').path) return not f or not f:read('*a'):find('ERROR')"
            ),
            "{leave}"
        );
    }
    at_best(Duration::from_secs(2), || {
        let server = Server::start(vec![hang()]);
        let mut editor = connect(&server);
        type_and_send(&editor, "go");
        editor.wait_buffer("begun");
        let start = Instant::now();
        assert_eq!(editor.quit(), Some(0));
        start.elapsed()
    });
}

#[test]
fn a_late_key_of_a_closed_or_stopped_chat_is_dropped() {
    for leave in
        ["chat:stop()", "chat:close()", "chat:clear()", "require('lathe').setup({}) chat.adapter = nil chat:stop()"]
    {
        let server = Server::start(vec![]);
        let editor = connect(&server);
        editor.lua("chat.adapter.env.api_key = 'cmd:sleep 0.3; echo abcdefgh'");
        type_and_send(&editor, "go");
        editor.wait_lua("chat.turn == 1");
        editor.lua(leave);
        // The command for the key has ended, and what follows from that has happened.
        editor.wait_lua("#vim.api.nvim_get_proc_children(vim.fn.getpid()) == 0");
        editor.lua("turned = 0 for _ = 1, 3 do vim.schedule(function() turned = turned + 1 end) end");
        editor.wait_lua("turned == 3");
        assert!(server.received().is_empty(), "{leave}: sent after the end");
        assert_eq!(editor.messages(), "", "{leave}");
    }
}
