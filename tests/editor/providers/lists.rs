//! Lists of models: where they are, what they tell, and that they come before the first chat, too.

use serde_json::{Value, json};

use super::{editor, provider};
use crate::support::server::{Server, text};

fn document(value: Value) -> Server {
    let body = value.to_string();
    Server::answering(move |_, _| text(200, "content-type: application/json\r\n", &body))
}

#[test]
fn the_list_stands_beside_the_chat_and_comes_before_the_first_chat() {
    for (chat_url, list_url) in [
        ("/v1/chat/completions", "/v1/models"),
        ("/api/paas/v4/chat/completions", "/api/paas/v4/models"),
        ("/chat/completions/", "/models"),
        ("/openai/v2/generate", "/openai/v2/models"),
    ] {
        let server = document(json!({"data": [{"id": "b"}, {"id": "a"}]}));
        let editor = editor();
        editor.run_with("beside", vec![server.url.as_str().into(), chat_url.into()]);
        editor.wait_lua("found ~= nil");
        assert_eq!(editor.lua_text("return found"), "a b", "{chat_url}");
        assert_eq!(server.received()[0].path, list_url);
        editor.assert_no_fault();
    }
}

#[test]
fn a_key_from_a_command_is_found_before_the_first_chat_and_a_chat_works_after_that() {
    let provider = provider("groq");
    let server = provider.serve(vec![super::say("Hello.")]);
    let editor = editor();
    super::configure(&editor, &[(&provider, &server)]);
    editor.run_with("by_command", vec![super::SECRET.into()]);
    editor.wait_lua("found ~= nil");
    assert_eq!(editor.lua_text("return found"), "m-1 m-2");
    editor.lua("chat = require('lathe').chat({}) send('hello')");
    editor.wait_buffer("Hello.");
    editor.assert_no_fault();
}

#[test]
fn what_lists_tell_of_models_is_known_and_the_rest_from_the_table() {
    let list = json!({"data": [
        {"id": "big", "context_length": 200_000, "top_provider": {"max_completion_tokens": 8192, "context_length": 1},
            "architecture": {"input_modalities": ["text", "image"]},
            "pricing": {"prompt": "0.000003", "completion": "0.000015"}},
        {"id": "new", "max_input_tokens": 1_000_000, "max_tokens": 128_000,
            "capabilities": {"image_input": {"supported": false}}},
        {"id": "plain"},
        {"id": "odd", "context_length": "many", "pricing": {"prompt": null}, "capabilities": 5, "top_provider": []},
    ], "object": "list"});
    let server = document(list);
    let editor = editor();
    editor.run_with("told", vec![server.url.as_str().into()]);
    editor.wait_lua("found ~= nil");
    assert!(editor.lua_bool("return next(before) == nil"));
    let facts =
        |model: &str| -> Value { serde_json::from_str(&editor.lua_text(&format!("return facts({model:?})"))).unwrap() };
    let big = json!({"context": 200_000, "output": 8192, "pictures": true, "price": {"input": 3, "output": 15}, "price_class": 3});
    assert_eq!(facts("big"), big);
    assert_eq!(facts("new"), json!({"context": 1_000_000, "output": 128_000, "pictures": false}));
    assert_eq!(facts("plain"), json!([]));
    assert_eq!(facts("odd"), json!([]));
    let known = facts("openai/gpt-5.5");
    assert_eq!(
        (&known["context"], &known["price_class"], &known["pictures"]),
        (&json!(1_050_000), &json!(4), &json!(true))
    );
}

#[test]
fn every_default_model_is_in_one_place_with_its_date() {
    let editor = editor();
    editor.run("check_defaults");
}

#[test]
fn copilot_lists_the_chat_models_that_policy_allows() {
    let model = |id: &str, kind: &str, state: Value, picked: bool| json!({"id": id, "capabilities": {"type": kind}, "policy": state, "model_picker_enabled": picked});
    let enabled = json!({"state": "enabled"});
    let list = json!({"data": [
        model("chat-1", "chat", enabled.clone(), true),
        model("chat-2", "chat", json!(null), true),
        model("embed", "embeddings", enabled.clone(), true),
        model("denied", "chat", json!({"state": "disabled"}), true),
        model("unasked", "chat", json!({"state": "unconfigured"}), true),
        model("hidden", "chat", enabled, false),
    ]});
    let server = Server::answering(move |received, _| {
        let url = format!("http://{}", received.header("host").unwrap());
        let token = json!({"token": "t", "expires_at": 4_000_000_000_u64, "endpoints": {"api": url}});
        let body = if received.path == "/token" { &token } else { &list };
        text(200, "content-type: application/json\r\n", &body.to_string())
    });
    let editor = editor();
    editor.run_with("copilot", vec![format!("{}/token", server.url).into()]);
    editor.wait_lua("found ~= nil");
    assert_eq!(editor.lua_text("return found"), "chat-1 chat-2");
}
