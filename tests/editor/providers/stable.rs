//! The same letters from every process, so that the caches of providers hit; and objects where Lua cannot tell one from a
//! list.

use serde_json::{Value, json};

use super::{Provider, answers, configure, editor, open_chat, prepare, provider, say, two_turns};
use crate::chat::PRELUDE;
use crate::support::server::{Reply, Server, stream};
use crate::support::{Editor, Setup};

fn open(editor: &Editor, provider: &Provider, server: &Server) {
    editor.run("many_keys");
    configure(editor, &[(provider, server)]);
    editor.run("open_many");
}

fn bytes(server: &Server) -> Vec<Vec<u8>> {
    server.received().into_iter().filter(|received| received.method == "POST").map(|received| received.bytes).collect()
}

/// A server that takes what it gets.
fn patient(name: &str) -> Server {
    let provider = provider(name);
    let answers = two_turns();
    let counter = std::sync::atomic::AtomicUsize::new(0);
    Server::answering(move |received, _| {
        let number = counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        answers::with_name((provider.answer)(&answers[number]), &received.body)
    })
}

#[test]
fn two_processes_send_the_same_bytes() {
    for name in ["openai", "openai_responses", "anthropic", "gemini", "ollama"] {
        let sent: Vec<Vec<Vec<u8>>> = (0..2)
            .map(|_| {
                let server = patient(name);
                let editor = editor();
                open(&editor, &provider(name), &server);
                editor.lua("send('Use the tools')");
                editor.wait_buffer("All is done.");
                editor.wait_lua("not chat.is_running");
                bytes(&server)
            })
            .collect();
        assert_eq!(sent[0].len(), 3, "{name}");
        for (one, other) in sent[0].iter().zip(&sent[1]) {
            assert_eq!(String::from_utf8_lossy(one), String::from_utf8_lossy(other), "{name}");
        }
    }
}

#[test]
fn a_chat_that_is_resumed_begins_with_the_bytes_it_had_before() {
    for name in ["openai", "anthropic"] {
        let provider = provider(name);
        let server = patient(name);
        let mut first = editor();
        open(&first, &provider, &server);
        first.lua("chat.adapter.body = nil send('Use the tools')");
        first.wait_buffer("All is done.");
        first.wait_lua("not chat.is_running");
        first.lua("vim.schedule(function() vim.cmd('qa!') end)");
        first.wait_exit();
        let home = std::mem::replace(&mut first.home, tempfile::tempdir().unwrap());

        let editor = Setup::default().home(home).start();
        editor.lua(PRELUDE);
        prepare(&editor);
        editor.run("many_keys");
        configure(&editor, &[(&provider, &server)]);
        editor.lua("vim.ui.select = function(items, _, done) done(items[1]) end vim.cmd('Lathe resume')");
        editor.wait_lua("require('lathe').last_chat() ~= nil and #require('lathe').last_chat().messages > 5");
        editor.lua("chat = require('lathe').last_chat() send('And 6*7?')");
        editor.wait_buffer("Again.");
        editor.wait_lua("not chat.is_running");
        // The marks for the cache move with the last turns, and say nothing to the model.
        let mark = ",\"cache_control\":{\"type\":\"ephemeral\"}";
        let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).unwrap().replace(mark, "");
        let sent = bytes(&server);
        let (before, after) = (parts(&text(&sent[2])), parts(&text(&sent[3])));
        assert_eq!((&after.0, &after.2), (&before.0, &before.2), "{name}: what stands around the messages");
        assert!(after.1.starts_with(&before.1) && after.1.len() > before.1.len(), "{name}:\n{}\n{}", before.1, after.1);
    }
}

/// What stands before the messages of a body, the messages, and what stands behind them.
fn parts(body: &str) -> (String, String, String) {
    let start = body.find("\"messages\":[").unwrap() + 12;
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    let length = body[start..].bytes().position(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth -= 1,
            _ => {}
        }
        depth < 0
    });
    let end = start + length.unwrap();
    (body[..start].to_owned(), body[start..end].to_owned(), body[end..].to_owned())
}

#[test]
fn what_is_added_in_mid_chat_has_its_tools_and_prompts_at_the_end() {
    let provider = provider("openai");
    let server = Server::answering(|_, number| answers::openai_answer(&say(["One.", "Two.", "Three."][number])));
    let mut editor = editor();
    editor.run("own_tools");
    configure(&editor, &[(&provider, &server)]);
    editor.lua("chat = require('lathe').chat({ tools = { 'one', 'pair' } }) send('hello')");
    editor.wait_buffer("One.");
    editor.wait_lua("not chat.is_running");
    editor.lua("assert(chat.tool_registry:add('four')) send('more')");
    editor.wait_buffer("Two.");
    editor.wait_lua("not chat.is_running");
    editor.lua("vim.schedule(function() vim.cmd('qa!') end)");
    editor.wait_exit();
    let home = std::mem::replace(&mut editor.home, tempfile::tempdir().unwrap());
    let resumed = Setup::default().home(home).start();
    resumed.lua(PRELUDE);
    prepare(&resumed);
    resumed.run("own_tools");
    configure(&resumed, &[(&provider, &server)]);
    resumed.lua("vim.ui.select = function(items, _, done) done(items[1]) end vim.cmd('Lathe resume')");
    resumed.wait_lua("require('lathe').last_chat() ~= nil and #require('lathe').last_chat().messages > 3");
    resumed.lua("chat = require('lathe').last_chat() send('Go on')");
    resumed.wait_buffer("Three.");
    let texts = |number: usize| -> (Vec<String>, Vec<String>) {
        let body = &server.received()[number].body;
        let list = |value: &Value, place: &str| -> Vec<String> {
            value.as_array().unwrap().iter().filter_map(|one| one.pointer(place)?.as_str().map(str::to_owned)).collect()
        };
        let system: Vec<Value> = body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|message| message["role"] == "system")
            .cloned()
            .collect();
        (list(&body["tools"], "/function/name"), list(&Value::Array(system), "/content"))
    };
    let ((tools_before, prompts_before), (tools_after, prompts_after)) = (texts(0), texts(1));
    assert_eq!(tools_before, ["one", "two", "three"]);
    assert_eq!(tools_after[..3], tools_before);
    assert_eq!(prompts_after[..prompts_before.len()], prompts_before, "{prompts_after:?}");
    assert_eq!(prompts_after.last().unwrap(), "Prompt of four.");
    assert_eq!(texts(2), (tools_after, prompts_after), "the same after it was resumed");
}

#[test]
fn the_empty_table_is_an_object_in_tools_body_parameters_and_defaults() {
    let provider = provider("gemini");
    let server = Server::start(vec![answers::gemini_answer(&say("Yes."))]);
    let editor = editor();
    open_chat(&editor, &[(&provider, &server)]);
    editor.run("search");
    editor.wait_buffer("Yes.");
    let body = server.received().into_iter().find(|received| received.method == "POST").unwrap().body;
    assert!(body["tools"].as_array().unwrap().contains(&json!({"google_search": {}})), "{}", body["tools"]);

    let server = Server::start(vec![answers::openai_answer(&say("Yes."))]);
    let provider = super::provider("openai");
    let editor = super::editor();
    editor.run("empty_defaults");
    open_chat(&editor, &[(&provider, &server)]);
    editor.run("empty_fields");
    editor.wait_buffer("Yes.");
    let body = server.received()[0].body.clone();
    assert_eq!((&body["metadata"], &body["stop"], &body["logit_bias"]), (&json!({}), &json!([]), &json!({})));
    assert_eq!(body["provider"], json!({"order": [], "prefs": {}}));
    let properties = &body["tools"][0]["function"]["parameters"]["properties"];
    assert_eq!((&properties["plain"]["default"], &properties["own"]["default"]), (&json!({}), &json!({})));
    assert_eq!((&properties["list"]["default"], &properties["open"]), (&json!([]), &json!({})));
}

#[test]
fn numbers_of_a_call_go_back_in_the_letters_of_the_model() {
    let arguments = r#"{"num1": 1e2, "num2": 1.50}"#;
    let call = json!({"index": 0, "id": "toolu_1", "type": "tool_use", "name": "calculator", "input": {}});
    let events = [
        json!({"type": "message_start", "message": {}}),
        json!({"type": "content_block_start", "index": 0, "content_block": call}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": arguments}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ];
    let replies: Vec<Reply> = vec![stream(&events), answers::anthropic_answer(&say("It is 150."))];
    let server = Server::start(replies);
    let editor = editor();
    open_chat(&editor, &[(&provider("anthropic"), &server)]);
    editor.lua("send('Calculate')");
    editor.wait_buffer("It is 150.");
    assert_eq!(editor.results(), ["150"]);
    let second = String::from_utf8(bytes(&server)[1].clone()).unwrap();
    assert!(second.contains(&format!("\"input\":{arguments}")), "{second}");
    let _: Value = serde_json::from_str(&second).unwrap();
}
