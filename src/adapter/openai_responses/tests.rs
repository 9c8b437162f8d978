//! Requests compared whole, answers cut everywhere; reasoning goes back as it came, or not at all.

use super::*;
use crate::adapter::testing::*;
use crate::adapter::{Item, Wire};

const WIRE: Wire = Wire::OpenAiResponses;

fn fixture_calls() -> Vec<Item> {
    items(WIRE, include_bytes!("../../../tests/fixtures/openai_responses_calls.sse"))
}

fn reasoning_item() -> Value {
    json!({"id": "rs_1", "type": "reasoning", "encrypted_content": "gAAA+é/=",
        "summary": [{"type": "summary_text", "text": "Two tools."}, {"type": "summary_text", "text": "Go."}]})
}

#[test]
fn a_stream_of_text_is_the_same_for_every_split_and_line_end() {
    let fixture = include_str!("../../../tests/fixtures/openai_responses_text.sse");
    let item = json!({"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "phase": "final_answer",
        "content": [{"type": "output_text", "text": "Grüße, 世界 🦀", "annotations": []}]});
    let wanted =
        [text("Grüße"), text(", 世界 🦀"), opaque(json!({"items": [item]})), usage(19, 5), end(EndReason::Stop)];
    assert_eq!(items(WIRE, fixture.as_bytes()), wanted);
    assert_eq!(items(WIRE, fixture.replace('\n', "\r\n").as_bytes()), wanted);
    assert_eq!(items(WIRE, fixture.trim_end().as_bytes()), wanted);
    // A server that only sends the end.
    let (_, last) = fixture.split_once("event: response.completed").expect("the end");
    let mut items = items(WIRE, last.trim_start().as_bytes());
    assert_eq!(items.remove(0), text("Grüße, 世界 🦀"));
    assert_eq!(items, wanted[2..]);
}

#[test]
fn parallel_calls_reasoning_and_a_call_without_arguments() {
    let kept = json!({"items": [
        reasoning_item(),
        {"id": "fc_1", "type": "function_call", "status": "completed", "call": 0},
        {"id": "fc_2", "type": "function_call", "status": "completed", "call": 1},
    ]});
    let wanted = [
        reasoning("Two "),
        reasoning("tools."),
        reasoning("\n\n"),
        reasoning("Go."),
        started(0, "call_A", "calculator"),
        started(1, "call_B", "list_buffers"),
        arguments(0, "{\"num1\":"),
        arguments(0, " 100}"),
        arguments(1, "{}"),
        opaque(kept),
        usage(50, 20),
        end(EndReason::ToolCalls),
    ];
    assert_eq!(fixture_calls(), wanted);
}

#[test]
fn what_the_provider_ran_is_shown_and_kept_whole() {
    let found = items(WIRE, include_bytes!("../../../tests/fixtures/openai_responses_search.sse"));
    assert_eq!(found[0], ran("web_search", "rust 2026", "https://a.example/", false));
    assert_eq!(found[1], text("It is so."));
    let sent = body(WIRE, &[user("?"), saved(&message(&found)), user("Sure?")], &[], json!({"store": false}));
    let kept = json!([
        {"id": "ws_1", "type": "web_search_call", "status": "completed",
            "action": {"type": "search", "query": "rust 2026", "sources": [{"type": "url", "url": "https://a.example/"}]}},
        {"id": "msg_3", "type": "message", "status": "completed", "role": "assistant", "content": [
            {"type": "output_text", "text": "It is so.", "annotations": [
                {"type": "url_citation", "url": "https://a.example/", "title": "A page", "start_index": 0, "end_index": 9}]}]},
    ]);
    assert_eq!(json!([sent["input"][1], sent["input"][2]]), kept);
    for other in [foreign(&message(&found)), older(&message(&found))] {
        let sent = body(WIRE, &[user("?"), other, user("Sure?")], &[], json!({"store": false}));
        let plain = json!({"type": "message", "role": "assistant", "content": "It is so."});
        assert_eq!(sent["input"][1], plain);
        assert_eq!(sent["input"].as_array().map(Vec::len), Some(3));
    }
}

#[test]
fn an_error_in_the_middle_ends_the_answer_with_its_text() {
    let found = items(WIRE, include_bytes!("../../../tests/fixtures/openai_responses_error.sse"));
    assert_eq!(found, [text("Half an ans"), failed("The model failed to generate a response.")]);
    let event = stream(&[json!({"type": "error", "code": "x", "message": "slow down", "param": null})]);
    assert_eq!(items(WIRE, &event), [failed("slow down")]);
    let half = stream(&[json!({"type": "response.output_text.delta", "output_index": 0, "delta": "a"})]);
    assert_eq!(items(WIRE, &half)[0], text("a"));
    assert!(matches!(items(WIRE, &half)[1], Item::Failed(_)));
}

#[test]
fn refusals_and_limits_are_told_apart() {
    let refused = stream(&[
        json!({"type": "response.refusal.delta", "output_index": 0, "delta": "I cannot."}),
        json!({"type": "response.completed", "response": {"status": "completed", "output": []}}),
    ]);
    assert_eq!(items(WIRE, &refused), [text("I cannot."), end(EndReason::Stop)]);
    let t = |reason: &str| {
        let response = json!({"status": "incomplete", "incomplete_details": {"reason": reason}, "output": []});
        items(WIRE, &stream(&[json!({"type": "response.incomplete", "response": response})])).last().cloned()
    };
    assert_eq!(t("max_output_tokens"), Some(end(EndReason::Length)));
    assert_eq!(t("content_filter"), Some(end(EndReason::ContentFilter(String::new()))));
}

#[test]
fn a_whole_response_is_read_like_a_stream() {
    let found = items(WIRE, include_bytes!("../../../tests/fixtures/openai_responses_whole.json"));
    let shown = [reasoning("Hm."), text("So: "), started(0, "call_C", "calculator"), arguments(0, "{\"num1\":1}")];
    assert_eq!(found[..4], shown);
    assert_eq!(found[5..], [usage(7, 8), end(EndReason::ToolCalls)]);
}

#[test]
fn three_turns_with_tools_are_sent_whole() {
    let number = json!({"type": "number"});
    let tools = [
        tool("calculator", json!({"properties": {"num1": number, "num2": number}, "required": ["num1"]}), Some(true)),
        tool("list_buffers", json!([]), None),
    ];
    let answer = saved(&message(&fixture_calls()));
    let history = [
        system("Be brief."),
        user("100*50?"),
        answer,
        result("call_A", "5000", false),
        result("call_B", "", true),
        llm("It is 5000.", &[("call_9", "list_buffers", "")]),
        result("call_9", "none", false),
        user("And now?"),
    ];
    let input = |role: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
    let output = |id: &str, text: &str| json!({"type": "function_call_output", "call_id": id, "output": text});
    let wanted = json!({
        "model": "m-1", "store": false, "include": ["reasoning.encrypted_content"], "stream": true,
        "input": [
            input("system", "Be brief."),
            input("user", "100*50?"),
            reasoning_item(),
            {"id": "fc_1", "type": "function_call", "status": "completed", "call_id": "call_A", "name": "calculator",
                "arguments": "{\"num1\": 100}"},
            {"id": "fc_2", "type": "function_call", "status": "completed", "call_id": "call_B", "name": "list_buffers",
                "arguments": "{}"},
            output("call_A", "5000"),
            output("call_B", ""),
            {"type": "message", "role": "assistant", "content": "It is 5000."},
            {"type": "function_call", "call_id": "call_9", "name": "list_buffers", "arguments": "{}"},
            output("call_9", "none"),
            input("user", "And now?"),
        ],
        "tools": [
            {"type": "function", "name": "calculator", "description": "calculator!", "strict": true, "parameters": {
                "type": "object", "additionalProperties": false, "required": ["num1", "num2"],
                "properties": {"num1": {"type": "number"}, "num2": {"type": ["number", "null"]}},
            }},
            {"type": "function", "name": "list_buffers", "description": "list_buffers!", "strict": false,
                "parameters": {"type": "object", "properties": {}}},
        ],
    });
    let settings = json!({"model": "m-1", "store": false, "include": ["reasoning.encrypted_content"]});
    assert_eq!(body(WIRE, &history, &tools, settings), wanted);
}

#[test]
fn reasoning_without_its_encrypted_form_goes_back_only_to_a_server_that_stores() {
    let item =
        |encrypted: Value| json!({"id": "rs", "type": "reasoning", "summary": [], "encrypted_content": encrypted});
    let sent = |encrypted: Value, settings: Value| {
        let events = [
            json!({"type": "response.output_item.done", "output_index": 0, "item": item(encrypted)}),
            json!({"type": "response.output_item.done", "output_index": 1, "item":
                {"id": "fc", "type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}}),
            json!({"type": "response.completed", "response": {"status": "completed"}}),
        ];
        let answer = message(&items(WIRE, &stream(&events)));
        let sent = body(WIRE, &[user("?"), answer, result("c", "x", false)], &[], settings);
        sent["input"][1].clone()
    };
    let call = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"});
    assert_eq!(sent(json!(null), json!({"store": false})), call);
    assert_eq!(sent(json!(null), json!({})), json!({"id": "rs", "type": "reasoning", "summary": []}));
    assert_eq!(sent(json!("g"), json!({"store": false})), item(json!("g")));
}

#[test]
fn an_answer_of_a_form_is_asked_for_in_the_provider_s_words() {
    let schema = json!({"type": "object"});
    let built = built(
        WIRE,
        &[user("?")],
        json!({"text": {"verbosity": "low"}}),
        BuildInput { answer: Some(&schema), ..nothing() },
    );
    let format = json!({"type": "json_schema", "name": "answer", "strict": true, "schema": {"type": "object"}});
    assert_eq!(built.body["text"], json!({"verbosity": "low", "format": format}));
}
