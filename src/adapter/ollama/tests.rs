//! Requests compared whole, answers cut everywhere.

use super::*;
use crate::adapter::testing::*;
use crate::adapter::{EndReason, Item, Wire};

const WIRE: Wire = Wire::Ollama;

fn fixture_calls() -> Vec<Item> {
    items(WIRE, include_bytes!("../../../tests/fixtures/ollama_calls.ndjson"))
}

#[test]
fn lines_of_text_are_the_same_for_every_split_and_line_end() {
    let fixture = include_str!("../../../tests/fixtures/ollama_text.ndjson");
    let wanted = [text("Grüße"), text(", 世界 🦀"), usage(19, 5), end(EndReason::Stop)];
    assert_eq!(items(WIRE, fixture.as_bytes()), wanted);
    assert_eq!(items(WIRE, fixture.replace('\n', "\r\n").as_bytes()), wanted);
    assert_eq!(items(WIRE, fixture.trim_end().as_bytes()), wanted);
}

#[test]
fn parallel_calls_thinking_and_a_call_without_arguments() {
    let wanted = [
        reasoning("Two "),
        reasoning("tools."),
        started(0, "call_A", "calculator"),
        arguments(0, r#"{"num1":100,"b":"ä"}"#),
        started(1, "", "list_buffers"),
        arguments(1, "{}"),
        opaque(Value::Null),
        usage(50, 20),
        end(EndReason::ToolCalls),
    ];
    assert_eq!(fixture_calls(), wanted);
}

#[test]
fn an_error_in_the_middle_ends_the_answer_with_its_text() {
    let found = items(WIRE, include_bytes!("../../../tests/fixtures/ollama_error.ndjson"));
    let told = "an error was encountered while running the model: unexpected EOF";
    assert_eq!(found, [text("Half an ans"), failed(told)]);
    let half = br#"{"message":{"role":"assistant","content":"a"},"done":false}"#;
    assert_eq!(items(WIRE, half), [text("a"), failed("The answer ends before the server says that it is complete.")]);
    assert_eq!(items(WIRE, b"<html>"), [failed("The server sent an event that is not JSON: <html>")]);
}

#[test]
fn limits_and_other_ends_are_told_apart() {
    let t = |reason: &str| {
        let line = json!({"message": {"content": "x"}, "done": true, "done_reason": reason}).to_string();
        items(WIRE, line.as_bytes()).last().cloned()
    };
    assert_eq!(t("length"), Some(end(EndReason::Length)));
    assert_eq!(t("stop"), Some(end(EndReason::Stop)));
    assert_eq!(t("unload"), Some(end(EndReason::Stop)));
}

#[test]
fn three_turns_with_tools_are_sent_whole() {
    let tools = [
        tool("calculator", json!({"properties": {"num1": {"type": "number"}}}), Some(true)),
        tool("list_buffers", json!([]), None),
    ];
    let answer = saved(&message(&fixture_calls()));
    let history = [
        system("Be brief."),
        user("100*50?"),
        answer.clone(),
        result("call_A", "5000", false),
        result("made_1", "", true),
        llm("It is 5000.", &[]),
        user("And now?"),
    ];
    let calls = json!([
        {"id": "call_A", "function": {"name": "calculator", "arguments": {"num1": 100, "b": "ä"}}},
        {"id": "made_1", "function": {"name": "list_buffers", "arguments": {}}},
    ]);
    let wanted = json!({
        "model": "m-1", "options": {"num_ctx": 8192}, "stream": true,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "100*50?"},
            {"role": "assistant", "content": "", "thinking": "Two tools.", "tool_calls": calls},
            {"role": "tool", "content": "5000", "tool_name": "calculator", "tool_call_id": "call_A"},
            {"role": "tool", "content": "", "tool_name": "list_buffers", "tool_call_id": "made_1"},
            {"role": "assistant", "content": "It is 5000."},
            {"role": "user", "content": "And now?"},
        ],
        "tools": [
            {"type": "function", "function": {"name": "calculator", "description": "calculator!",
                "parameters": {"type": "object", "properties": {"num1": {"type": "number"}}}}},
            {"type": "function", "function": {"name": "list_buffers", "description": "list_buffers!",
                "parameters": {"type": "object", "properties": {}}}},
        ],
    });
    let settings = json!({"model": "m-1", "options": {"num_ctx": 8192}});
    assert_eq!(body(WIRE, &history, &tools, settings.clone()), wanted);
    let sent = body(WIRE, &[user("?"), foreign(&answer)], &[], settings);
    assert_eq!(sent["messages"][1].get("thinking"), None);
}

#[test]
fn a_schema_that_the_server_cannot_read_is_made_looser() {
    let schema = json!({"type": ["object", "null"], "properties": {
        "any": true, "d": {"description": 5, "type": "string", "enum": "x"}, "n": {"type": "object", "properties": {"a": false}},
    }});
    let sent = body(WIRE, &[user("?")], &[tool("f", schema, None)], json!({}));
    let wanted = json!({"type": "object", "properties": {
        "any": {}, "d": {"type": "string"}, "n": {"type": "object", "properties": {"a": {}}},
    }});
    assert_eq!(sent["tools"][0]["function"]["parameters"], wanted);
}

#[test]
fn an_answer_of_a_form_is_asked_for_in_the_provider_s_words() {
    let schema = json!({"type": "object"});
    let built = built(WIRE, &[user("?")], json!({}), BuildInput { answer: Some(&schema), ..nothing() });
    assert_eq!(built.body["format"], schema);
}
