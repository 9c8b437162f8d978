//! Requests compared whole, answers cut everywhere; what the provider refuses is not sent.

use super::*;
use crate::adapter::names::legal_id;
use crate::adapter::testing::*;
use crate::adapter::{BuildInput, EndReason, Item, Names, Wire};
use crate::message::Message;

const WIRE: Wire = Wire::Anthropic;

fn fixture_calls() -> Vec<Item> {
    items(WIRE, include_bytes!("../../../tests/fixtures/anthropic_calls.sse"))
}

fn deltas(deltas: &[Value]) -> Vec<u8> {
    let mut events = vec![json!({"type": "message_start", "message": {"usage": {}}})];
    events.extend(deltas.iter().cloned());
    stream(&events)
}

fn stops(reason: &str) -> [Value; 2] {
    [json!({"type": "message_delta", "delta": {"stop_reason": reason}}), json!({"type": "message_stop"})]
}

#[test]
fn a_stream_of_text_is_the_same_for_every_split_and_line_end() {
    let fixture = include_str!("../../../tests/fixtures/anthropic_text.sse");
    let wanted = [text("Grüße"), text(", 世界 🦀"), usage(19, 5), end(EndReason::Stop)];
    assert_eq!(items(WIRE, fixture.as_bytes()), wanted);
    assert_eq!(items(WIRE, fixture.replace('\n', "\r\n").as_bytes()), wanted);
    assert_eq!(items(WIRE, fixture.trim_end().as_bytes()), wanted);
}

#[test]
fn parallel_calls_thinking_and_a_call_without_arguments() {
    let blocks = json!({"blocks": [
        {"type": "thinking", "thinking": "Two tools.", "signature": "EqoB+é/="},
        {"type": "redacted_thinking", "data": "Ab/+=="},
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "call": 0},
        {"type": "tool_use", "call": 1},
    ], "prefix": ""});
    let wanted = [
        reasoning("Two "),
        reasoning("tools."),
        text("Let me see."),
        started(0, "toolu_A", "calculator"),
        arguments(0, "{\"num1\":"),
        arguments(0, " 100}"),
        started(1, "toolu_B", "list_buffers"),
        opaque(blocks),
        usage(50, 20),
        end(EndReason::ToolCalls),
    ];
    assert_eq!(fixture_calls(), wanted);
}

#[test]
fn what_the_provider_ran_is_shown_and_kept_whole() {
    let found = items(WIRE, include_bytes!("../../../tests/fixtures/anthropic_search.sse"));
    let blocks = json!([
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "rust 2026"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
            {"type": "web_search_result", "url": "https://a.example/", "title": "A page", "encrypted_content": "Eq/+=",
                "page_age": null}]},
        {"type": "text", "text": "It is so.", "citations": [{"type": "web_search_result_location",
            "url": "https://a.example/", "title": "A page", "encrypted_index": "Eo8B", "cited_text": "so"}]},
    ]);
    let wanted = [
        ran("web_search", "rust 2026", "A page\nhttps://a.example/", false),
        text("It is so."),
        opaque(json!({"blocks": blocks})),
        usage(9, 7),
        end(EndReason::Stop),
    ];
    assert_eq!(found, wanted);
    let sent = body(WIRE, &[user("?"), saved(&message(&found)), user("Sure?")], &[], json!({"model": "m-1"}));
    assert_eq!(sent["messages"][1], json!({"role": "assistant", "content": blocks}));
    // Another adapter gets the text.
    let sent = body(WIRE, &[user("?"), foreign(&message(&found)), user("Sure?")], &[], json!({"model": "m-1"}));
    assert_eq!(sent["messages"][1]["content"], json!([{"type": "text", "text": "It is so."}]));
}

#[test]
fn results_of_code_and_errors_of_tools_are_shown() {
    let result = |kind: &str, content: Value| {
        let found = items(
            WIRE,
            &deltas(&[
                json!({"type": "content_block_start", "index": 0, "content_block":
                {"type": "server_tool_use", "id": "s", "name": "bash_code_execution", "input": {"command": "ls\n-a"}}}),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "content_block_start", "index": 1, "content_block":
                {"type": kind, "tool_use_id": "s", "content": content}}),
                stops("end_turn")[0].clone(),
                stops("end_turn")[1].clone(),
            ]),
        );
        found[0].clone()
    };
    let content = json!({"type": "bash_code_execution_result", "stdout": "a\nb\n", "stderr": "", "return_code": 0});
    let kind = "bash_code_execution_tool_result";
    assert_eq!(result(kind, content), ran("bash_code_execution", "ls -a", "a\nb", false));
    let content = json!({"type": "bash_code_execution_result", "stdout": "", "stderr": "no", "return_code": 2});
    assert_eq!(result(kind, content), ran("bash_code_execution", "ls -a", "no", true));
    let content = json!({"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"});
    assert_eq!(result(kind, content), ran("bash_code_execution", "ls -a", "max_uses_exceeded", true));
}

#[test]
fn a_pause_is_kept_also_when_it_says_nothing_yet() {
    let server = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}});
    let [delta, stop] = stops("pause_turn");
    let found = items(
        WIRE,
        &deltas(&[
            json!({"type": "content_block_start", "index": 0, "content_block": server}),
            json!({"type": "content_block_stop", "index": 0}),
            delta,
            stop,
        ]),
    );
    assert_eq!(found[0], opaque(json!({"blocks": [server]})));
    assert_eq!(found.last(), Some(&end(EndReason::Paused)));
}

#[test]
fn an_error_in_the_middle_ends_the_answer_with_its_text() {
    let found = items(WIRE, include_bytes!("../../../tests/fixtures/anthropic_error.sse"));
    assert_eq!(found, [text("Half an ans"), failed("Overloaded")]);
    assert_eq!(items(WIRE, br#"{"type":"error","error":{"type":"x","message":"bad"}}"#), [failed("bad")]);
}

#[test]
fn an_answer_that_breaks_off_is_a_failure() {
    let fixture = include_str!("../../../tests/fixtures/anthropic_text.sse");
    let (half, _) = fixture.split_once("event: message_delta").expect("a delta");
    let wanted =
        [text("Grüße"), text(", 世界 🦀"), failed("The answer ends before the server says that it is complete.")];
    assert_eq!(items(WIRE, half.as_bytes()), wanted);
    assert_eq!(items(WIRE, b""), [failed("The server sent an empty answer.")]);
    assert_eq!(
        items(WIRE, b"<html><title>Bad gateway</title>"),
        [failed("The server's answer is not a message: Bad gateway")]
    );
    assert_eq!(items(WIRE, b"oops"), [failed("The server's answer is not a stream of events: oops")]);
}

#[test]
fn refusals_and_limits_are_told_apart() {
    let t = |reason: &str| items(WIRE, &deltas(&stops(reason))).last().cloned();
    assert_eq!(t("refusal"), Some(end(EndReason::Refused(String::new()))));
    assert_eq!(t("max_tokens"), Some(end(EndReason::Length)));
    assert_eq!(t("stop_sequence"), Some(end(EndReason::Stop)));
    assert_eq!(t("new_word"), Some(end(EndReason::Other("new_word".into()))));
    let details = json!({"type": "refusal", "category": "cyber", "explanation": "This could harm."});
    let delta = json!({"stop_reason": "refusal", "stop_details": details});
    let found = items(WIRE, &deltas(&[json!({"type": "message_delta", "delta": delta})]));
    assert_eq!(found.last(), Some(&end(EndReason::Refused("cyber: This could harm.".into()))));
}

#[test]
fn a_whole_message_is_read_like_a_stream() {
    let found = items(WIRE, include_bytes!("../../../tests/fixtures/anthropic_whole.json"));
    let blocks = json!({"blocks": [
        {"type": "thinking", "thinking": "Hm.", "signature": "S5=="},
        {"type": "text", "text": "So: "},
        {"type": "tool_use", "call": 0},
    ], "prefix": ""});
    let wanted = [
        reasoning("Hm."),
        text("So: "),
        started(0, "toolu_C", "calculator"),
        arguments(0, r#"{"num1":1,"b":[2,null]}"#),
        opaque(blocks),
        usage(7, 8),
        end(EndReason::ToolCalls),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn three_turns_with_tools_are_sent_whole() {
    let tools = [
        tool("calculator", json!({"properties": {"num1": {"type": "number"}}, "required": ["num1"]}), Some(true)),
        tool("list.buffers", json!([]), None),
    ];
    let settings = json!({"model": "m-1", "max_tokens": 100, "thinking": {"type": "enabled", "budget_tokens": 50}});
    let mut history = vec![system("Be brief."), user("100*50?"), system("Use tools.")];
    let calls = include_bytes!("../../../tests/fixtures/anthropic_calls.sse");
    history.push(answer_to(WIRE, &history, &tools, settings.clone(), calls));
    history.extend([result("toolu_A", "5000", false), result("toolu_B", "", true), user("And now?")]);
    history.extend([llm("It is 5000.", &[]), user("Thanks"), user("a lot")]);
    let assistant = json!({"role": "assistant", "content": [
        {"type": "thinking", "thinking": "Two tools.", "signature": "EqoB+é/="},
        {"type": "redacted_thinking", "data": "Ab/+=="},
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "toolu_A", "name": "calculator", "input": {"num1": 100}},
        {"type": "tool_use", "id": "toolu_B", "name": "list_buffers", "input": {}},
    ]});
    let wanted = json!({
        "model": "m-1", "max_tokens": 100, "thinking": {"type": "enabled", "budget_tokens": 50}, "stream": true,
        "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Use tools."}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "100*50?"}]},
            assistant,
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_A", "content": "5000"},
                {"type": "tool_result", "tool_use_id": "toolu_B", "is_error": true},
                {"type": "text", "text": "And now?"},
            ]},
            {"role": "assistant", "content": [{"type": "text", "text": "It is 5000."}]},
            {"role": "user", "content": [{"type": "text", "text": "Thanks"}, {"type": "text", "text": "a lot"}]},
        ],
        "tools": [
            {"name": "calculator", "description": "calculator!", "strict": true, "input_schema": {
                "type": "object", "properties": {"num1": {"type": "number"}}, "required": ["num1"],
                "additionalProperties": false}},
            {"name": Names::default().wire("list.buffers"), "description": "list.buffers!",
                "input_schema": {"type": "object", "properties": {}}},
        ],
    });
    assert_eq!(body(WIRE, &history, &tools, settings), wanted);
}

#[test]
fn the_thinking_of_another_model_or_adapter_is_not_sent_and_not_missed() {
    let settings = json!({"model": "m-1", "thinking": {"type": "enabled"}});
    let tools = [tool("calculator", json!(null), None), tool("list_buffers", json!(null), None)];
    let calls = include_bytes!("../../../tests/fixtures/anthropic_calls.sse");
    let answer = answer_to(WIRE, &[user("?")], &tools, settings.clone(), calls);
    let kinds = |answer: Message| {
        let history = [user("?"), answer, result("toolu_A", "1", false), result("toolu_B", "2", false)];
        let sent = body(WIRE, &history, &tools, settings.clone());
        let blocks = sent["messages"][1]["content"].as_array().expect("blocks").clone();
        let kinds: Vec<String> =
            blocks.iter().map(|block| block["type"].as_str().expect("a type").to_owned()).collect();
        (kinds.join(" "), sent.get("thinking").is_some())
    };
    assert_eq!(kinds(answer.clone()), ("thinking redacted_thinking text tool_use tool_use".into(), true));
    assert_eq!(kinds(older(&answer)), ("text tool_use tool_use".into(), false));
    assert_eq!(kinds(foreign(&answer)), ("text tool_use tool_use".into(), false));
}

#[test]
fn what_the_provider_refuses_is_not_sent() {
    let sent = body(
        WIRE,
        &[
            llm("Hello.", &[]),
            user(" \n"),
            llm("  ", &[("a.b:0", "gone tool", "not json")]),
            result("a.b:0", "x", false),
        ],
        &[],
        json!({"model": "m-1"}),
    );
    let id = legal_id("a.b:0");
    let name = Names::default().wire("gone tool").into_owned();
    let wanted = json!({
        "model": "m-1", "stream": true, "max_tokens": 8192,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "…"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Hello."},
                {"type": "tool_use", "id": id, "name": name, "input": {}},
            ]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "x"}]},
        ],
        "tools": [{"name": name, "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "none"},
    });
    assert_eq!(sent, wanted);
}

#[test]
fn one_bad_tool_is_named_and_the_others_are_offered() {
    let tools = [
        tool("bad", json!({"type": "string"}), None),
        tool("good", json!(null), None),
        tool("memory", json!(null), None),
    ];
    let own = [json!({"type": "memory_20250818", "name": "memory"})];
    let built = built(WIRE, &[user("?")], json!({}), BuildInput { tools: &tools, extra_tools: &own, ..nothing() });
    assert_eq!(
        built.faults,
        [
            "The tool \"bad\" is not offered: its parameters must be of type \"object\", not \"string\".",
            "The tool \"memory\" is not offered: the provider's own tool has the same name.",
        ]
    );
    let names: Vec<_> =
        built.body["tools"].as_array().expect("tools").iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["good", "memory"]);
}

#[test]
fn an_answer_of_a_form_is_asked_for_in_the_provider_s_words() {
    let schema = json!({"type": "object"});
    let settings = json!({"model": "m-1", "output_config": {"effort": "low"}});
    let built = built(WIRE, &[user("?")], settings, BuildInput { answer: Some(&schema), ..nothing() });
    let format = json!({"type": "json_schema", "schema": {"type": "object"}});
    assert_eq!(built.body["output_config"], json!({"effort": "low", "format": format}));
}
