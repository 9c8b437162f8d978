//! Chats with a provider on 127.0.0.1 that speaks OpenAI's chat completions: what is sent, what is shown, what goes wrong.

use serde_json::{Value, json};

use crate::chat::editor;
use crate::support::server::{Reply, Server, stream, text};
use crate::support::{Editor, script};

pub const KEY: &str = "sk-very-secret-0123456789";

/// An editor whose chat talks to the server and may use the seed's calculator.
pub fn connect(server: &Server) -> Editor {
    let editor = editor();
    configure(&editor, server);
    editor
}

fn configure(editor: &Editor, server: &Server) {
    editor.run_with("configure", vec![server.url.as_str().into(), KEY.into()]);
}

pub fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

pub fn said(text: &str) -> Vec<Value> {
    vec![delta(json!({"content": text})), json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})]
}

/// Sends by keys.
pub fn type_and_send(editor: &Editor, text: &str) {
    editor.input("<Esc>Go");
    editor.input(text);
    editor.input("<C-s>");
}

#[test]
fn a_typed_message_goes_to_the_provider_and_the_result_of_its_call_goes_back() {
    let arguments = r#"{"num1": 100, "num2":50,"operation":"multiply"}"#;
    let (first, second) = arguments.split_at(14);
    let call = |arguments: &str, start: bool| {
        let mut call = json!({"index": 0, "function": {"arguments": arguments}});
        if start {
            call["id"] = "call_abc".into();
            call["type"] = "function".into();
            call["function"]["name"] = "calculator".into();
        }
        delta(json!({"tool_calls": [call]}))
    };
    let mut closing = said("100 × 50 is **5000**.");
    closing.push(json!({"choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": 8}}));
    let server = Server::start(vec![
        stream(&[
            delta(json!({"role": "assistant", "content": "Let me see."})),
            call("", true),
            call(first, false),
            call(second, false),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        ]),
        stream(&closing),
    ]);
    let editor = connect(&server);
    type_and_send(&editor, "Use the @{calculator} tool for 100*50");
    editor.wait_buffer("5000**.");
    editor.wait_screen("5000");

    let received = server.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0].header("authorization"), Some(&*format!("Bearer {KEY}")));
    let mut tools = received[0].body["tools"].clone();
    assert_eq!(tools[0]["function"]["name"], "calculator");
    assert_eq!(tools[0]["function"]["strict"], true);
    let mut body = received[1].body.clone();
    assert_eq!(body["tools"].take(), tools.take(), "the same tools each time");
    body["messages"].as_array_mut().unwrap().retain(|message| message["role"] != "system");
    assert_eq!(
        body,
        json!({
            "model": "small",
            "stream": true,
            "stream_options": {"include_usage": true},
            "tools": null,
            "messages": [
                {"role": "user", "content": "Use the calculator tool for 100*50"},
                {"role": "assistant", "content": "Let me see.", "tool_calls": [
                    {"id": "call_abc", "type": "function", "function": {"name": "calculator", "arguments": arguments}}
                ]},
                {"role": "tool", "tool_call_id": "call_abc", "content": "5000"},
            ],
        })
    );
    assert!(editor.lua_bool("return chat.usage.input == 120 and chat.usage.output == 8"));
}

#[test]
fn a_setting_of_the_adapter_that_cannot_be_used_is_named_also_when_its_key_comes_late() {
    let server = Server::start(vec![stream(&said("hello"))]);
    for key in ["cmd:echo key", "TEST_PROVIDER_KEY"] {
        let editor = connect(&server);
        editor.lua_with("chat.adapter.opts.limits.idle_ms, chat.adapter.env.api_key = 'soon', ...", vec![key.into()]);
        type_and_send(&editor, "go");
        editor.wait_buffer("opts.limits.idle_ms");
        editor.wait_lua("not chat.is_running");
        assert_eq!(editor.messages(), "");
    }
    assert_eq!(server.received().len(), 0);
}

#[test]
fn a_private_authority_is_trusted_when_it_is_named_and_its_absence_is_explained() {
    let replies = || vec![stream(&said("over TLS"))];
    let (server, authority) = Server::start_tls(replies());
    let editor = editor();
    let file = editor.home.path().join("authority.pem");
    std::fs::write(&file, authority).unwrap();
    editor.lua_with("vim.env.SSL_CERT_FILE = ...", vec![file.to_str().unwrap().into()]);
    configure(&editor, &server);
    type_and_send(&editor, "hello");
    editor.wait_buffer("over TLS");

    let (server, _) = Server::start_tls(replies());
    let editor = connect(&server);
    type_and_send(&editor, "hello");
    editor.wait_lua("not chat.is_running and #chat.messages > 0");
    editor.wait_buffer("certificate");
    assert!(server.received().is_empty(), "nothing was sent");
}

#[test]
fn errors_of_every_kind_are_shown_and_the_message_can_be_sent_again() {
    let fails: [(Reply, &str); 8] = [
        (
            text(400, "content-type: application/json\r\n", r#"{"error":{"message":"Invalid schema for f"}}"#),
            "400: Invalid schema for f",
        ),
        (text(400, "content-type: text/html\r\n", "<html><title>Bad gateway line</title></html>"), "Bad gateway line"),
        (text(400, "", ""), "400"),
        (text(401, "", r#"{"error":{"message":"Incorrect API key"}}"#), "401: Incorrect API key"),
        (text(413, "", ""), "413"),
        (text(429, "retry-after: 3600\r\n", r#"{"error":{"message":"slow down"}}"#), "429: slow down"),
        (
            Reply::Cut {
                pieces: vec![b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n".to_vec()],
            },
            "half",
        ),
        (
            stream(&[delta(json!({"content": "begun"})), json!({"error": {"message": "overloaded inside"}})]),
            "overloaded inside",
        ),
    ];
    for (reply, shown) in fails {
        let server = Server::start(vec![reply, stream(&said("all is well"))]);
        let editor = connect(&server);
        type_and_send(&editor, "hello");
        editor.wait_buffer(shown);
        editor.wait_lua("not chat.is_running");
        assert!(editor.buffer().contains("! Local"), "{shown}: {}", editor.buffer());
        // Nothing typed: the same message again.
        editor.lua("chat:submit()");
        editor.wait_buffer("all is well");
        let sent = &server.received()[1].body["messages"];
        assert_eq!(*sent, server.received()[0].body["messages"], "{shown}");
        assert!(!editor.messages().contains("traceback"), "{shown}");
    }
}

#[test]
fn a_busy_provider_is_asked_again_and_that_is_shown() {
    let server = Server::start(vec![text(429, "retry-after: 2\r\n", "{}"), stream(&said("here I am"))]);
    let editor = connect(&server);
    editor.resize(160, 24);
    editor.lua("vim.cmd.only()");
    type_and_send(&editor, "hello");
    // The seconds that are left are shown.
    editor.wait_screen("retry 1 of 4 in ");
    editor.wait_screen("s  q stop");
    editor.wait_buffer("here I am");
    editor.wait_screen_without("q stop");
    editor.wait_screen("retry 1 of 4");
    assert_eq!(editor.buffer().matches("! Local").count(), 1, "{}", editor.buffer());
    assert_eq!(server.received().len(), 2);
}

#[test]
fn r073_a_stream_that_stops_in_a_call_ends_at_the_idle_limit() {
    let started = r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"calculator"}}]}}]}"#;
    let server = Server::start(vec![
        Reply::Hang { pieces: vec![format!("{started}\n\n").into_bytes()] },
        stream(&said("awake again")),
    ]);
    let editor = connect(&server);
    editor.lua("chat.adapter.opts.limits.idle_ms = 300");
    type_and_send(&editor, "hello");
    editor.wait_buffer("300 ms");
    editor.lua("chat.adapter.opts.limits.idle_ms = nil");
    server.wait_left();
    type_and_send(&editor, "still there?");
    editor.wait_buffer("awake again");
    assert!(editor.lua_bool("return paired()"));
}

#[test]
fn stop_keeps_the_text_and_ends_the_connection() {
    let piece = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"so far\"}}]}\n\n".to_vec();
    let server = Server::start(vec![Reply::Hang { pieces: vec![piece] }, stream(&said("new"))]);
    let editor = connect(&server);
    type_and_send(&editor, "hello");
    editor.wait_buffer("so far");
    editor.input("<Esc>q");
    server.wait_left();
    editor.wait_lua("not chat.is_running");
    assert!(editor.lua_bool("return chat.messages[#chat.messages].content == 'so far'"));
    type_and_send(&editor, "and now?");
    editor.wait_buffer("new");
}

#[test]
fn a_missing_key_is_named_and_nothing_is_sent() {
    let server = Server::start(vec![]);
    let editor = connect(&server);
    editor.lua("vim.env.TEST_PROVIDER_KEY = nil");
    type_and_send(&editor, "hello");
    editor.wait_buffer("No key for Local: set TEST_PROVIDER_KEY or adapters.http");
    assert!(server.received().is_empty());
}

#[test]
fn keys_come_from_commands_and_functions_too() {
    for (key, code) in [
        ("from-a-command", "'cmd:echo from-a-command'"),
        ("from-a-function", "function() return 'from-a-function' end"),
    ] {
        let server = Server::start(vec![stream(&said("thanks"))]);
        let editor = connect(&server);
        editor.lua(&format!("chat.adapter.env.api_key = {code}"));
        type_and_send(&editor, "hello");
        editor.wait_buffer("thanks");
        assert_eq!(server.received()[0].header("authorization"), Some(&*format!("Bearer {key}")));
    }
}

#[test]
fn a_hook_may_make_the_tools_and_a_whole_answer_needs_no_stream() {
    let whole = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "in one piece"}, "finish_reason": "stop"}]});
    let server = Server::start(vec![text(200, "content-type: application/json\r\n", &whole.to_string())]);
    let editor = connect(&server);
    editor.run("hook");
    type_and_send(&editor, "use @{calculator}");
    editor.wait_buffer("in one piece");
    let body = &server.received()[0].body;
    assert_eq!(body["tools"], json!([{"type": "function", "name": "calculator", "by": "local_server"}]));
    assert_eq!(body["stream"], false);
}

#[test]
fn a_key_is_nowhere_but_in_the_request() {
    let echo = format!(r#"{{"error":{{"message":"Incorrect API key: {KEY}"}}}}"#);
    let echo: &'static str = Box::leak(echo.into_boxed_str());
    let server = Server::start(vec![
        text(401, "content-type: application/json\r\n", echo),
        stream(&[
            delta(json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "shell", "arguments": "{}"}}]})),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        ]),
        stream(&said("seen")),
    ]);
    let editor = connect(&server);
    editor.run("shell_tool");
    type_and_send(&editor, "hello");
    editor.wait_buffer("401");
    type_and_send(&editor, "again");
    editor.wait_buffer("seen");
    let places = editor.lua_text(&script("places"));
    assert!(places.contains("PAGER=cat"), "the command ran");
    assert!(!places.contains(KEY), "the key is somewhere");
    assert!(!editor.messages().contains(KEY));
}

#[test]
fn a_redirect_to_another_host_is_not_followed_and_a_silent_server_ends_at_its_limit() {
    let elsewhere = Server::start(vec![stream(&said("stolen"))]);
    let location: &'static str = Box::leak(format!("location: {}/v1\r\n", elsewhere.url).into_boxed_str());
    let server = Server::start(vec![text(307, location, "")]);
    let editor = connect(&server);
    type_and_send(&editor, "hello");
    editor.wait_buffer("! Local");
    editor.wait_lua("not chat.is_running");
    assert!(elsewhere.received().is_empty(), "the key went elsewhere");

    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    editor.lua_with("chat.adapter.url = ... .. '/v1' chat.adapter.opts.limits.first_byte_ms = 300", vec![url.into()]);
    type_and_send(&editor, "anybody there?");
    editor.wait_buffer("300 ms");
    editor.wait_lua("not chat.is_running");
}

#[test]
fn what_a_hook_changes_stays_in_its_own_chat() {
    let editor = editor();
    editor.run("own_copies");
}

#[test]
fn adapters_that_are_functions_are_not_asked_for_their_keys_by_every_command() {
    let editor = editor();
    editor.run("asked_for_keys");
}

#[test]
fn r083_while_the_user_types_elsewhere_an_answer_is_written_seldom_and_is_whole_in_the_end() {
    let word = |n: usize| format!("data: {}\n\n", delta(json!({"content": format!("w{n} ")}))).into_bytes();
    let mut pieces: Vec<Vec<u8>> = (0..400).map(word).collect();
    pieces.push(b"data: [DONE]\n\n".to_vec());
    let server = Server::start(vec![Reply::Slow { pieces, every_ms: 5 }]);
    let editor = connect(&server);
    type_and_send(&editor, "hello");
    editor.wait_buffer("w1 ");
    editor.lua(
        r#"writes = 0 began = vim.uv.now()
        vim.api.nvim_buf_attach(chat.bufnr, false, { on_lines = function() writes = writes + 1 end })
        vim.cmd("topleft vnew | startinsert")"#,
    );
    while editor.lua_bool("return chat.is_running") {
        editor.input("x");
    }
    let (writes, ms) = (editor.lua_int("return writes"), editor.lua_int("return vim.uv.now() - began"));
    editor.wait_until("all of it", || editor.chat_text().contains("w399"));
    // One in 33 ms, were they as often as they can be.
    assert!(writes * 3 < ms / 33, "{writes} writes in {ms} ms");
}
