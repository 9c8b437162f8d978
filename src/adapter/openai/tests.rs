//! Requests compared whole, answers cut everywhere, and one outcome for each habit of a compatible server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;

use super::build::call_of;
use super::*;
use crate::adapter::testing::input;
use crate::adapter::{BuildInput, Built, Dialect, Names, Origin, ToolDefinition};
use crate::message::{Attachment, Call, Message, NO_RESULT, Opaque};

fn decoder_for(names: Names) -> Decoder {
    Decoder::new(Asked { names, streaming: true, ..Asked::default() })
}

fn decode<'a>(names: &Names, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Item> {
    let mut decoder = decoder_for(names.clone());
    let mut items: Vec<Item> = pieces.into_iter().flat_map(|piece| decoder.push(piece)).collect();
    items.extend(decoder.finish());
    assert_eq!((decoder.push(b"data: {\"choices\":[]}\n\n"), decoder.finish()), (vec![], vec![]), "it was over");
    items
}

/// The items of an answer, the same for every way to cut it in two and for single bytes.
fn items(body: &[u8]) -> Vec<Item> {
    let names = Names::default();
    let whole = decode(&names, [body]);
    assert_eq!(decode(&names, body.chunks(1)), whole);
    for cut in 0..=body.len() {
        let (left, right) = body.split_at(cut);
        assert_eq!(decode(&names, [left, right]), whole, "cut at {cut}");
    }
    whole
}

fn stream(chunks: &[Value]) -> Vec<u8> {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect::<String>().into_bytes()
}

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

/// The items of deltas that each hold these tool calls.
fn calls(deltas: &[Value]) -> Vec<Item> {
    let chunks: Vec<Value> = deltas.iter().map(|calls| delta(json!({"tool_calls": calls}))).collect();
    items(&stream(&chunks))
}

/// Wire id, name and whole arguments of each call.
fn assembled(items: &[Item]) -> Vec<(String, String, String)> {
    let mut calls = Vec::new();
    for item in items {
        match item {
            Item::CallStarted { index, wire_id, name } => {
                assert_eq!(*index, calls.len(), "calls start in order");
                calls.push((wire_id.clone(), name.clone(), String::new()));
            }
            Item::CallArguments { index, text } => calls[*index].2.push_str(text),
            _ => {}
        }
    }
    calls
}

fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.to_owned(), name.to_owned(), arguments.to_owned())
}

fn text(text: &str) -> Item {
    Item::Text(text.to_owned())
}

fn reasoning(text: &str) -> Item {
    Item::Reasoning(text.to_owned())
}

fn started(index: usize, wire_id: &str, name: &str) -> Item {
    Item::CallStarted { index, wire_id: wire_id.to_owned(), name: name.to_owned() }
}

fn arguments(index: usize, text: &str) -> Item {
    Item::CallArguments { index, text: text.to_owned() }
}

fn end(reason: EndReason) -> Item {
    Item::End { reason }
}

fn failed(text: &str) -> Item {
    Item::Failed(text.to_owned())
}

#[test]
fn a_stream_of_text_is_the_same_for_every_split_and_line_end() {
    let fixture = include_str!("../../../tests/fixtures/openai_text.sse");
    let wanted = [text("Grüße"), text(", 世界 🦀"), Item::Usage { input: 19, output: 5 }, end(EndReason::Stop)];
    assert_eq!(items(fixture.as_bytes()), wanted);
    assert_eq!(items(fixture.replace('\n', "\r\n").as_bytes()), wanted);
    assert_eq!(items(fixture.replace('\n', "\r").as_bytes()), wanted);
    assert_eq!(items(fixture.trim_end().as_bytes()), wanted);
    assert_eq!(items(fixture.replace("data: [DONE]\n\n", "").as_bytes()), wanted);
    assert_eq!(items(format!("\u{feff}{fixture}").as_bytes()), wanted);
}

#[test]
fn calls_interleaved_by_index_are_put_together() {
    let found = items(include_bytes!("../../../tests/fixtures/openai_calls.sse"));
    let wanted = [
        started(0, "call_A", "calculator"),
        started(1, "call_B", "read_file"),
        arguments(1, "{\"pa"),
        arguments(0, "{\"num1\":"),
        arguments(1, "th\":\"ä"),
        arguments(0, " 100}"),
        arguments(1, ".txt\"}"),
        Item::Usage { input: 50, output: 20 },
        end(EndReason::ToolCalls),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn reasoning_has_many_names_and_is_shown_once() {
    let found = items(include_bytes!("../../../tests/fixtures/openai_reasoning.sse"));
    let wanted = [
        reasoning("Let "),
        reasoning("me see"),
        reasoning("."),
        text("4"),
        text("2"),
        Item::Usage { input: 9, output: 8 },
        end(EndReason::Length),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn an_error_in_the_middle_ends_the_answer_with_its_text() {
    let found = items(include_bytes!("../../../tests/fixtures/openai_error.sse"));
    assert_eq!(found, [text("Half an ans"), failed("The server had an error while processing your request")]);
    let after =
        |event: &str| items(format!("data: {}\n\n{event}", delta(json!({"content": "a"}))).as_bytes())[1].clone();
    assert_eq!(after("event: error\ndata: {\"error\": \"overloaded\"}\n\n"), failed("overloaded"));
    assert_eq!(
        after("error: {\"code\": 500, \"message\": \"slot\"}\n\n"),
        end(EndReason::Stop),
        "no error field: ignored"
    );
    assert_eq!(after("error: {\"error\": {\"message\": \"slot\"}}\n\n"), failed("slot"));
    assert_eq!(after("{\"error\": {\"message\": \"bare\"}}"), failed("bare"));
    assert_eq!(
        after("data: {\"object\": \"error\", \"message\": \"too long\", \"code\": 400}\n\n"),
        failed("too long")
    );
    assert_eq!(after("data: {\"error\": {\"code\": 7}}\n\n"), failed("The server reports an error: {\"code\":7}"));
    assert_eq!(after("data: {\"choices\": [{\"error\": {\"message\": \"upstream\"}}]}\n\n"), failed("upstream"));
    assert_eq!(after("data: {\"choices\""), failed("The server sent an event that is not JSON: {\"choices\""));
    assert_eq!(after("data: {\"error\": null, \"choices\": []}\n\n"), end(EndReason::Stop));
}

#[test]
fn an_answer_that_is_no_stream_is_read_too() {
    let fixture = include_str!("../../../tests/fixtures/openai_whole.json");
    let wanted = [
        reasoning("hm"),
        text("I'll look — 好"),
        started(0, "call_A", "f"),
        arguments(0, "{\"a\": 1}"),
        started(1, "call_B", "g"),
        arguments(1, "{\"b\":[2]}"),
        Item::Usage { input: 3, output: 4 },
        end(EndReason::ToolCalls),
    ];
    assert_eq!(items(fixture.as_bytes()), wanted);
    // The whole answer as the only event of a stream.
    let value: Value = serde_json::from_str(fixture).expect("JSON");
    assert_eq!(items(&stream(&[value])), wanted);
}

#[test]
fn a_body_that_is_no_answer_fails_in_words() {
    let t = |body: &str| match &items(body.as_bytes())[..] {
        [Item::Failed(text)] => text.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(t(r#"{"error": {"message": "No such model"}}"#), "No such model");
    assert_eq!(t(r#"[{"error": {"message": "bad schema"}}]"#), "bad schema");
    assert_eq!(t("<html><title>Log in</title></html>"), "The server's answer is not a chat completion: Log in");
    assert_eq!(t(r#"{"ok": 1}"#), r#"The server's answer is not a chat completion: {"ok": 1}"#);
    assert_eq!(t(r#"{"choices": ["#), r#"The server's answer is not a chat completion: {"choices": ["#);
    assert_eq!(t("Hello"), "The server's answer is not a stream of events: Hello");
    assert_eq!(t(""), "The server sent an empty answer.");
    assert_eq!(t("data: [DONE]\n\n"), "The server sent an empty answer.");
    let mut decoder = Decoder::new(Asked::default());
    decoder.push(b"Hello");
    assert_eq!(decoder.finish(), [failed("The server's answer is not JSON: Hello")]);
}

#[test]
fn every_reason_to_stop_has_its_word() {
    let t = |reason: Value| {
        let chunk = json!({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": reason}]});
        let found = items(&stream(&[chunk, json!({"choices": []})]));
        assert_eq!(found.len(), 2);
        found[1].clone()
    };
    assert_eq!(t(json!("stop")), end(EndReason::Stop));
    assert_eq!(t(json!("length")), end(EndReason::Length));
    assert_eq!(t(json!("content_filter")), end(EndReason::ContentFilter));
    assert_eq!(t(json!("tool_calls")), end(EndReason::ToolCalls));
    assert_eq!(t(json!("function_call")), end(EndReason::ToolCalls));
    assert_eq!(t(json!("weird")), end(EndReason::Other("weird".to_owned())));
    assert_eq!(t(json!("")), end(EndReason::Stop));
    assert_eq!(t(json!(null)), end(EndReason::Stop));
}

#[test]
fn a_refusal_is_text() {
    let found = items(&stream(&[delta(json!({"refusal": "I can't"})), delta(json!({"refusal": " do that."}))]));
    assert_eq!(found, [text("I can't"), text(" do that."), end(EndReason::Stop)]);
}

#[test]
fn only_the_first_choice_is_read() {
    let two = json!({"choices": [{"index": 1, "delta": {"content": "b"}}, {"index": 0, "delta": {"content": "a"}}]});
    assert_eq!(items(&stream(&[two])), [text("a"), end(EndReason::Stop)]);
}

#[test]
fn a_message_after_its_own_deltas_is_not_read_again() {
    let whole = |message: Value| json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let found = items(&stream(&[delta(json!({"content": "a"})), whole(json!({"content": "a"}))]));
    assert_eq!(found, [text("a"), end(EndReason::Stop)]);
}

#[test]
fn events_without_a_blank_line_between_them_are_all_read() {
    let (a, b) = (delta(json!({"content": "a"})), delta(json!({"content": "b"})));
    let body = format!("data: {a}\ndata: {b}\ndata: [DONE]\n\n");
    assert_eq!(items(body.as_bytes()), [text("a"), text("b"), end(EndReason::Stop)]);
}

#[test]
fn half_a_surrogate_pair_is_replaced_and_the_rest_kept() {
    let t = |content: &str| {
        let body = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{content}\"}}}}]}}\n\n");
        items(body.as_bytes())[0].clone()
    };
    assert_eq!(t(r"a\ud83d"), text("a\u{fffd}"));
    assert_eq!(t(r"\ude00b"), text("\u{fffd}b"));
    assert_eq!(t(r"\ud83d\ud83d\ude00\\ud83d\n"), text("\u{fffd}😀\\ud83d\n"));
    assert_eq!(t(r"\ud83d\ude00"), text("😀"));
}

#[test]
fn r059_an_event_cut_inside_a_character_is_read_whole() {
    let long = format!("{}é{}", "x".repeat(8191 - 60), "y".repeat(12_000));
    let body = stream(&[delta(json!({"content": long}))]);
    let at = body.iter().position(|byte| *byte == 0xc3).expect("the é") + 1;
    let names = Names::default();
    let wanted = [text(&long), end(EndReason::Stop)];
    assert_eq!(decode(&names, [&body[..at], &body[at..]]), wanted);
    assert_eq!(decode(&names, body.chunks(8192)), wanted);
    assert_eq!(decode(&names, body.chunks(1)), wanted);
}

#[test]
fn r057_one_index_with_two_ids_is_two_calls() {
    let found = calls(&[
        json!([{"index": 0, "id": "A", "function": {"name": "f", "arguments": "{}"}}]),
        json!([{"index": 0, "id": "B", "function": {"name": "g", "arguments": "{}"}}]),
    ]);
    assert_eq!(assembled(&found), [call("A", "f", "{}"), call("B", "g", "{}")]);
    // The same tool twice, each in pieces.
    let found = calls(&[
        json!([{"index": 0, "id": "A", "function": {"name": "f", "arguments": "{\"a\""}}]),
        json!([{"index": 0, "function": {"arguments": ":1}"}}]),
        json!([{"index": 0, "id": "B", "function": {"name": "f", "arguments": "{\"a\""}}]),
        json!([{"index": 0, "id": "B", "function": {"arguments": ":1}"}}]),
    ]);
    assert_eq!(assembled(&found), [call("A", "f", "{\"a\":1}"), call("B", "f", "{\"a\":1}")]);
}

#[test]
fn an_id_that_changes_with_every_piece_is_one_call() {
    let found = calls(&[
        json!([{"index": 0, "id": "A", "function": {"name": "f", "arguments": ""}}]),
        json!([{"index": 0, "id": "B", "function": {"name": null, "arguments": "{\"a\""}}]),
        json!([{"index": 0, "id": "C", "function": {"name": "", "arguments": ":1}"}}]),
    ]);
    assert_eq!(assembled(&found), [call("A", "f", "{\"a\":1}")]);
}

#[test]
fn id_and_name_that_come_with_every_piece_are_one_call() {
    let piece = |text: &str| json!([{"index": 0, "id": "A", "function": {"name": "f", "arguments": text}}]);
    let found = calls(&[piece("{\"a\""), piece(":{"), piece("}}"), piece("")]);
    assert_eq!(assembled(&found), [call("A", "f", "{\"a\":{}}")]);
}

#[test]
fn arguments_sent_twice_count_once() {
    let again = |second: Value| {
        assembled(&calls(&[
            json!([{"index": 0, "id": "A", "function": {"name": "f", "arguments": "{\"a\":"}}]),
            json!([{"index": 0, "function": {"arguments": " 1}"}}]),
            json!([second]),
        ]))
    };
    let once = [call("A", "f", "{\"a\": 1}")];
    assert_eq!(again(json!({"index": 0, "function": {"arguments": "{\"a\": 1}"}})), once);
    assert_eq!(again(json!({"index": 0, "function": {"arguments": "{\"a\":1}\n"}})), once);
    assert_eq!(again(json!({"index": 0, "function": {"arguments": {"a": 1}}})), once);
    assert_eq!(again(json!({"index": 0, "id": "A", "function": {"name": "f", "arguments": "{\"a\": 1}"}})), once);
    assert_eq!(again(json!({"id": "A", "function": {"name": "f", "arguments": "{\"a\": 1}"}})), once);
    // The same call under another index.
    assert_eq!(again(json!({"index": 1, "id": "A", "function": {"name": "f", "arguments": "{\"a\": 1}"}})), once);
}

#[test]
fn r038_two_objects_in_one_call_stay_together_and_are_refused_later() {
    let glued = "{\"path\":\"a.txt\"}{\"path\":\"b.txt\"}";
    let found = calls(&[json!([{"index": 0, "id": "A", "function": {"name": "f", "arguments": glued}}])]);
    assert_eq!(assembled(&found), [call("A", "f", glued)]);
    let found = calls(&[
        json!([{"index": 0, "id": "A", "function": {"name": "f", "arguments": "{\"path\":\"a.txt\"}"}}]),
        json!([{"index": 0, "function": {"arguments": "{\"path\":\"b.txt\"}"}}]),
        json!([{"index": 0, "function": {"arguments": "{\"path\":\"b.txt\"}"}}]),
    ]);
    assert_eq!(assembled(&found), [call("A", "f", &format!("{glued}{{\"path\":\"b.txt\"}}"))]);
    assert!(crate::schema::decode(glued).is_err());
}

#[test]
fn r040_missing_and_empty_arguments_are_no_arguments() {
    for function in
        [json!({"name": "f"}), json!({"name": "f", "arguments": ""}), json!({"name": "f", "arguments": null})]
    {
        let found = calls(&[json!([{"index": 0, "id": "A", "type": "function", "function": function}])]);
        assert_eq!(found, [started(0, "A", "f"), end(EndReason::ToolCalls)]);
    }
    assert_eq!(calls(&[json!([{}]), json!([{"index": 0}]), json!([null, 1])]), [end(EndReason::Stop)]);
}

#[test]
fn an_empty_object_before_the_arguments_is_only_a_placeholder() {
    let start = json!([{"index": 0, "id": "A", "function": {"name": "f", "arguments": "{}"}}]);
    let found = calls(&[start.clone(), json!([{"index": 0, "function": {"arguments": "{\"a\":1}"}}])]);
    assert_eq!(assembled(&found), [call("A", "f", "{\"a\":1}")]);
    assert_eq!(assembled(&calls(&[start])), [call("A", "f", "{}")]);
}

#[test]
fn an_id_or_a_name_may_come_late_or_never() {
    let found = calls(&[
        json!([{"index": 0, "id": "A"}]),
        json!([{"index": 1, "id": "B", "function": {"name": "g", "arguments": "{}"}}]),
        json!([{"index": 0, "function": {"arguments": "{\"a\""}}]),
        json!([{"index": 0, "function": {"name": "f", "arguments": ":1}"}}]),
    ]);
    assert_eq!(assembled(&found), [call("A", "f", "{\"a\":1}"), call("B", "g", "{}")]);
    let found = calls(&[
        json!([{"index": 0, "function": {"name": "f", "arguments": "{\"a\":1}"}}]),
        json!([{"index": 0, "id": "A"}]),
    ]);
    assert_eq!(assembled(&found), [call("A", "f", "{\"a\":1}")]);
    let found = calls(&[json!([{"index": 0, "function": {"arguments": "{\"a\":1}"}}])]);
    assert_eq!(assembled(&found), [call("", "", "{\"a\":1}")]);
}

#[test]
fn calls_without_ids_and_with_one_index_are_told_apart() {
    let f = |text: &str| json!([{"index": 0, "id": "", "function": {"name": "f", "arguments": text}}]);
    let g = json!([{"index": 0, "function": {"name": "g", "arguments": "{}"}}]);
    let found = calls(&[f("{\"a\":1}"), f("{\"a\":2}"), g]);
    assert_eq!(assembled(&found), [call("", "f", "{\"a\":1}"), call("", "f", "{\"a\":2}"), call("", "g", "{}")]);
}

#[test]
fn calls_without_an_index_are_told_apart() {
    let found = calls(&[
        json!([
            {"id": "A", "function": {"name": "f", "arguments": "{\"a\":1}"}},
            {"id": "B", "function": {"name": "f", "arguments": "{\"a\""}},
        ]),
        json!([{"function": {"arguments": ":1}"}}]),
        json!([{"id": "C", "function": {"name": "g"}}]),
        json!([{"id": "C", "function": {"arguments": "{}"}}]),
    ]);
    assert_eq!(assembled(&found), [call("A", "f", "{\"a\":1}"), call("B", "f", "{\"a\":1}"), call("C", "g", "{}")]);
    let found = calls(&[
        json!([{"id": "A", "function": {"name": "f", "arguments": "{"}}, {"id": "B", "function": {"name": "g", "arguments": "{"}}]),
        json!([{"function": {"arguments": "}"}}]),
    ]);
    let last = "The server sent a piece of a tool call without saying of which one. Nothing was run.";
    assert_eq!(found.last(), Some(&failed(last)));
}

#[test]
fn the_old_function_call_is_a_call() {
    let found = items(&stream(&[
        delta(json!({"function_call": {"name": "f", "arguments": ""}})),
        delta(json!({"function_call": {"arguments": "{\"a\""}})),
        delta(json!({"function_call": {"arguments": ":1}"}})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "function_call"}]}),
    ]));
    assert_eq!(found, [started(0, "", "f"), arguments(0, "{\"a\":1}"), end(EndReason::ToolCalls)]);
}

#[test]
fn usage_is_told_when_it_changes() {
    let usage = |output: u64| json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": output}});
    let found = items(&stream(&[usage(1), usage(1), usage(2), json!({"usage": null, "choices": []})]));
    let told = |output| Item::Usage { input: 3, output };
    assert_eq!(found, [told(1), told(2), end(EndReason::Stop)]);
}

#[test]
fn r049_the_models_name_is_the_tools_own_name_again() {
    let long = "s".repeat(81);
    let names = Names::new([long.as_str()]);
    let wire = names.wire(&long).into_owned();
    let body = stream(&[delta(json!({"tool_calls": [{"index": 0, "id": "A", "function": {"name": wire}}]}))]);
    assert_eq!(decode(&names, [body.as_slice()])[0], started(0, "A", &long));
}

#[test]
fn r052_what_came_with_a_call_goes_back_with_it() {
    let found = calls(&[json!([{
        "index": 0, "id": "A", "function": {"name": "f", "arguments": "{}"}, "_index": 7,
        "extra_content": {"google": {"thought_signature": "S1/é+=="}},
    }])]);
    let extra = json!({"extra_content": {"google": {"thought_signature": "S1/é+=="}}});
    assert_eq!(found[1], Item::CallExtra { index: 0, extra: extra.clone() });
    let call = Call { wire_id: "A".into(), name: "f".into(), arguments: "{}".into(), extra: Some(extra) };
    // Also after a restart.
    let saved = serde_json::to_string(&call).expect("JSON");
    let call: Call = serde_json::from_str(&saved).expect("a call");
    assert_eq!(
        call_of(&call, true, &Dialect::default(), &Names::default()),
        json!({
            "id": "A", "type": "function", "function": {"name": "f", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": "S1/é+=="}},
        })
    );
}

#[test]
fn r055_only_fields_of_the_api_are_sent() {
    let extra = Some(json!({"_index": 0, "id": "x", "function": {}}));
    let call = Call { wire_id: "A".into(), name: "f".into(), arguments: "{}".into(), extra };
    assert_eq!(
        call_of(&call, true, &Dialect::default(), &Names::default()),
        json!({"id": "A", "type": "function", "function": {"name": "f", "arguments": "{}"}})
    );
}

fn settings(settings: Value) -> Map<String, Value> {
    settings.as_object().expect("an object").clone()
}

fn tool(name: &str, parameters: Value, strict: Option<bool>) -> ToolDefinition {
    ToolDefinition { name: name.to_owned(), description: Some(format!("{name}!")), parameters, strict }
}

fn build_with(messages: &[Message], tools: &[ToolDefinition], own: Option<&Value>, given: Value) -> Built {
    let messages: Vec<Arc<Message>> = messages.iter().cloned().map(Arc::new).collect();
    build(BuildInput { messages: &messages, tools, tools_override: own, ..input(&settings(given)) })
}

#[test]
fn tools_that_the_provider_knows_follow_the_others_but_not_those_of_a_hook() {
    let (tools, extra) = ([tool("f", json!({"type": "object"}), None)], [json!({"type": "web_search"})]);
    let built = |tools_override| {
        let settings = Map::new();
        build(BuildInput { tools: &tools, tools_override, extra_tools: &extra, ..input(&settings) }).body
    };
    let tools = built(None)["tools"].clone();
    assert_eq!((&tools[0]["function"]["name"], &tools[1]), (&json!("f"), &json!({"type": "web_search"})));
    assert_eq!(built(Some(&json!({"tools": [{"type": "own"}]})))["tools"], json!([{"type": "own"}]));
}

fn llm(content: &str, calls: &[(&str, &str, &str)]) -> Message {
    let calls = calls.iter().map(|(id, name, arguments)| Call {
        wire_id: (*id).into(),
        name: (*name).into(),
        arguments: (*arguments).into(),
        extra: None,
    });
    Message::Llm { content: content.into(), reasoning: "secret".into(), calls: calls.collect(), opaque: None }
}

fn result(id: &str, content: &str) -> Message {
    Message::Tool { wire_id: id.into(), content: content.into(), is_error: true, attachments: vec![] }
}

#[test]
fn three_turns_with_tools_are_sent_whole() {
    let number = json!({"type": "number"});
    let tools = [
        tool("calculator", json!({"properties": {"num1": number, "num2": number}, "required": ["num1"]}), Some(true)),
        tool("list_buffers", json!([]), None),
    ];
    let mut history = vec![
        Message::System { content: "Be brief.".into() },
        Message::System { content: "Use tools.".into() },
        Message::User { content: "100*50?".into(), visible: true, typed: None, attachments: vec![] },
    ];
    let mut wanted = vec![
        json!({"role": "system", "content": "Be brief."}),
        json!({"role": "system", "content": "Use tools."}),
        json!({"role": "user", "content": "100*50?"}),
    ];
    let body = |messages: &[Value]| {
        json!({
            "model": "gpt-x", "temperature": 0.5, "stream": true, "stream_options": {"include_usage": true},
            "messages": messages,
            "tools": [
                {"type": "function", "function": {
                    "name": "calculator", "description": "calculator!", "strict": true,
                    "parameters": {
                        "type": "object", "additionalProperties": false, "required": ["num1", "num2"],
                        "properties": {"num1": {"type": "number"}, "num2": {"type": ["number", "null"]}},
                    },
                }},
                {"type": "function", "function": {
                    "name": "list_buffers", "description": "list_buffers!",
                    "parameters": {"type": "object", "properties": {}},
                }},
            ],
        })
    };
    let sent = |history: &[Message]| {
        let built = build_with(history, &tools, None, json!({"model": "gpt-x", "temperature": 0.5}));
        assert_eq!(built.faults, Vec::<String>::new());
        built.body
    };
    assert_eq!(sent(&history), body(&wanted));

    // R041: the arguments are the model's own text, and an empty object stays one.
    let odd = "{ \"num1\":100,\n  \"num2\":5e1, \"num1\":100}";
    history.extend([
        llm("", &[("c1", "calculator", odd), ("c2", "list_buffers", "{}")]),
        result("c1", "5000"),
        result("c2", ""),
        llm("It is 5000.", &[]),
        Message::User { content: "And now?".into(), visible: false, typed: None, attachments: vec![] },
    ]);
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    wanted.extend([
        json!({
            "role": "assistant", "content": null,
            "tool_calls": [call("c1", "calculator", odd), call("c2", "list_buffers", "{}")],
        }),
        json!({"role": "tool", "tool_call_id": "c1", "content": "5000"}),
        json!({"role": "tool", "tool_call_id": "c2", "content": ""}),
        json!({"role": "assistant", "content": "It is 5000."}),
        json!({"role": "user", "content": "And now?"}),
    ]);
    assert_eq!(sent(&history), body(&wanted));

    // R026, R030: a call that never ran, and one of a tool that does not exist.
    history.extend([llm("Wait.", &[("c3", "no/such tool", "")]), result("c3", NO_RESULT)]);
    let gone = Names::default().wire("no/such tool").into_owned();
    wanted.extend([
        json!({"role": "assistant", "content": "Wait.", "tool_calls": [call("c3", &gone, "{}")]}),
        json!({"role": "tool", "tool_call_id": "c3", "content": NO_RESULT}),
    ]);
    assert_eq!(sent(&history), body(&wanted));
}

#[test]
fn settings_decide_about_the_stream() {
    let t = |given: Value| {
        let Value::Object(mut body) = build_with(&[], &[], None, given).body else { panic!("an object") };
        assert_eq!(body.remove("messages"), Some(json!([])));
        Value::Object(body)
    };
    assert_eq!(t(json!({})), json!({"stream": true, "stream_options": {"include_usage": true}}));
    assert_eq!(t(json!({"stream": false})), json!({"stream": false}));
    assert_eq!(t(json!({"stream_options": false})), json!({"stream": true}));
    assert_eq!(t(json!({"stream_options": null})), json!({"stream": true}));
    assert_eq!(t(json!({"stream_options": {"a": 1}})), json!({"stream": true, "stream_options": {"a": 1}}));
}

#[test]
fn r047_a_tool_that_cannot_be_strict_goes_out_as_its_author_wrote_it() {
    let free = json!({"type": "object", "properties": {"any": {"type": "object"}}});
    let built =
        build_with(&[], &[tool("f", free.clone(), Some(true)), tool("g", free.clone(), Some(false))], None, json!({}));
    for tool in built.body["tools"].as_array().expect("tools") {
        assert_eq!(tool["function"]["parameters"], free);
        assert_eq!(tool["function"].get("strict"), None);
    }
    assert_eq!(built.faults, Vec::<String>::new());
}

#[test]
fn r047_one_bad_tool_is_named_and_the_others_are_offered() {
    let tools = [
        tool("bad", json!({"type": "string"}), None),
        tool("good", json!(null), None),
        tool("good", json!(null), None),
    ];
    let built = build_with(&[], &tools, None, json!({}));
    assert_eq!(built.body["tools"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        built.faults,
        [
            "The tool \"bad\" is not offered: its parameters must be of type \"object\", not \"string\".",
            "The tool \"good\" is not offered: another tool has the same name.",
        ]
    );
}

#[test]
fn the_adapters_own_hook_wins_and_no_tools_is_no_field() {
    let tools = [tool("f", json!(null), None)];
    let sent = |own: Value| build_with(&[], &tools, Some(&own), json!({})).body;
    let own = json!([{"type": "web_search"}]);
    assert_eq!(sent(own.clone())["tools"], own);
    let body = sent(json!({"tools": own, "tool_choice": "required"}));
    assert_eq!((&body["tools"], &body["tool_choice"]), (&own, &json!("required")));
    for none in [json!([]), json!({}), json!(null), json!({"tools": []}), json!({"tools": {}})] {
        assert_eq!(sent(none.clone()).get("tools"), None, "{none}");
    }
    assert_eq!(build_with(&[], &[], None, json!({})).body.get("tools"), None);
}

/// The pieces of several calls, in an order that keeps each call's own.
fn interleaved() -> impl Strategy<Value = (Vec<String>, Vec<(usize, String)>)> {
    let arguments = prop::collection::vec("[a-zé🦀\\\\\"{}]{0,12}", 1..4)
        .prop_map(|texts| texts.into_iter().map(|text| json!({"key": {"text": text}}).to_string()).collect::<Vec<_>>());
    (arguments, prop::collection::vec((0usize..4, 1usize..6), 0..60)).prop_map(|(arguments, order)| {
        let mut left: Vec<Vec<char>> = arguments.iter().map(|text| text.chars().rev().collect()).collect();
        let mut pieces = Vec::new();
        let mut take = |index: usize, count: usize| {
            let rest = &mut left[index];
            let piece: String = std::iter::from_fn(|| rest.pop()).take(count).collect();
            if !piece.is_empty() {
                pieces.push((index, piece));
            }
        };
        let calls = arguments.len();
        order.into_iter().for_each(|(index, count)| take(index % calls, count));
        (0..calls).for_each(|index| take(index, usize::MAX));
        (arguments, pieces)
    })
}

proptest! {
    #[test]
    fn calls_are_whole_for_every_interleaving_and_split((wanted, pieces) in interleaved(), size in 1usize..200) {
        let mut chunks: Vec<Value> = (0..wanted.len())
            .map(|index| json!([{"index": index, "id": format!("c{index}"), "function": {"name": "f", "arguments": ""}}]))
            .collect();
        chunks.extend(pieces.iter().map(|(index, text)| json!([{"index": index, "function": {"arguments": text}}])));
        let chunks: Vec<Value> = chunks.into_iter().map(|calls| delta(json!({"tool_calls": calls}))).collect();
        let body = stream(&chunks);
        let names = Names::default();
        let found = decode(&names, body.chunks(size));
        prop_assert_eq!(&found, &decode(&names, [body.as_slice()]));
        let found: Vec<String> = assembled(&found).into_iter().map(|(_, _, arguments)| arguments).collect();
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn no_body_breaks_the_decoder_and_each_ends_once(
        events in prop::collection::vec(any_event(), 0..8),
        size in 1usize..50,
    ) {
        let body: String = events.concat();
        let names = Names::default();
        let found = decode(&names, body.as_bytes().chunks(size));
        prop_assert_eq!(&found, &decode(&names, [body.as_bytes()]));
        let ends = found.iter().filter(|item| matches!(item, Item::End { .. } | Item::Failed(_))).count();
        prop_assert_eq!(ends, 1);
        let ends_last = matches!(found.last(), Some(Item::End { .. } | Item::Failed(_)));
        prop_assert!(ends_last);
        assembled(&found);
    }
}

/// Events with anything in the places where a server might put it.
fn any_event() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        json!(null),
        json!(""),
        json!("a"),
        json!("{}"),
        json!("{\"a\":1}"),
        json!("{"),
        json!({}),
        json!([]),
        json!(0),
        json!(1),
        json!({"a": 1}),
    ]);
    let call = (odd.clone(), odd.clone(), odd.clone(), odd.clone()).prop_map(|(index, id, name, arguments)| {
        json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}, "extra_content": {"a": 1}})
    });
    let delta = (prop::collection::vec(call, 0..3), odd.clone(), odd).prop_map(|(calls, content, reason)| {
        json!({"choices": [{"delta": {"tool_calls": calls, "content": content}, "finish_reason": reason}]})
    });
    prop_oneof![
        8 => delta.prop_map(|chunk| format!("data: {chunk}\n\n")),
        1 => Just("data: [DONE]\n\n".to_owned()),
        1 => "[ -~\\n]{0,20}",
    ]
}

/// How long it takes to read this much of arguments in pieces of 16 bytes.
fn time_to_read(bytes: usize) -> Duration {
    let begin =
        delta(json!({"tool_calls": [{"index": 0, "id": "A", "function": {"name": "f", "arguments": "{\"a\":\""}}]}));
    let piece = stream(&[delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "}{0123456789abcd"}}]}))]);
    let mut decoder = decoder_for(Names::default());
    decoder.push(&stream(&[begin]));
    let started = Instant::now();
    let mut read = 0;
    while read < bytes {
        for item in decoder.push(&piece) {
            match item {
                Item::CallArguments { text, .. } => read += text.len(),
                other => panic!("{other:?}"),
            }
        }
    }
    started.elapsed()
}

#[test]
fn a_megabyte_of_arguments_in_63_000_deltas_costs_as_much_per_byte_as_little() {
    // 16 times as much takes 16 times as long, and 256 times if every piece touched all that came before. A busy machine
    // may spoil some tries, never all; a quadratic decoder never gets near.
    let ratio = || time_to_read(1_008_000).as_secs_f64() / time_to_read(63_000).as_secs_f64();
    assert!((0..10).any(|_| ratio() < 48.0));
}

fn own(data: Value) -> Option<Opaque> {
    Some(Origin { adapter: "own".into(), model: "m-1".into() }.opaque(data))
}

fn sent_with(dialect: &Dialect, messages: &[Message]) -> Vec<Value> {
    let messages: Vec<Arc<Message>> = messages.iter().cloned().map(Arc::new).collect();
    let settings = Map::new();
    let built = build(BuildInput { messages: &messages, dialect, ..input(&settings) });
    built.body["messages"].as_array().expect("messages").clone()
}

#[test]
fn a_dialect_wants_ids_of_its_own_form_and_the_model_between_a_result_and_the_user() {
    let dialect = Dialect { call_id_length: Some(9), answer_between: true, ..Dialect::default() };
    let history = [
        llm("", &[("call_lathe_1", "f", "{}"), ("abcDEF123", "f", "{}"), ("call_lathe_2", "f", "{}")]),
        result("call_lathe_1", "1"),
        result("abcDEF123", "2"),
        result("call_lathe_2", "3"),
        Message::User { content: "?".into(), visible: true, typed: None, attachments: vec![] },
    ];
    let sent = sent_with(&dialect, &history);
    let ids: Vec<&str> = (0..3).filter_map(|at| sent[0]["tool_calls"][at]["id"].as_str()).collect();
    assert!(ids.iter().all(|id| id.len() == 9 && id.chars().all(|letter| letter.is_ascii_alphanumeric())), "{ids:?}");
    assert_eq!(ids[1], "abcDEF123");
    assert_ne!(ids[0], ids[2]);
    assert_eq!(sent[1..4].iter().map(|result| result["tool_call_id"].as_str()).collect::<Option<Vec<_>>>(), Some(ids));
    assert_eq!(sent[4..], [json!({"role": "assistant", "content": "…"}), json!({"role": "user", "content": "?"})]);
    // Others take ids of up to 40 letters.
    let long = "x".repeat(64);
    let sent = sent_with(&Dialect::default(), &[llm("", &[(long.as_str(), "f", "{}")]), result(&long, "1")]);
    assert_eq!(sent[0]["tool_calls"][0]["id"].as_str().map(str::len), Some(40));
    assert_eq!(sent[0]["tool_calls"][0]["id"], sent[1]["tool_call_id"]);
}

#[test]
fn a_dialect_gets_the_reasoning_of_its_own_calls_back_and_an_empty_one_for_others() {
    let dialect = Dialect { reasoning_back: Some("reasoning_content".into()), ..Dialect::default() };
    let asked =
        Asked { dialect: dialect.clone(), origin: own(json!({})).map(origin_of).expect("one"), ..Asked::default() };
    let mut decoder = Decoder::new(asked);
    decoder.push(&stream(&[delta(json!({"reasoning_content": "Hm."})), delta(json!({"content": "x"}))]));
    assert!(decoder.finish().iter().any(|item| matches!(item, Item::Opaque(opaque) if opaque.adapter == "own")));
    let with = |opaque: Option<Opaque>| {
        let Message::Llm { content, reasoning, calls, .. } = llm("", &[("c", "f", "{}")]) else { unreachable!() };
        sent_with(&dialect, &[Message::Llm { content, reasoning, calls, opaque }])[0]["reasoning_content"].clone()
    };
    assert_eq!(with(own(json!({}))), "secret");
    assert_eq!(with(None), "");
    assert_eq!(sent_with(&dialect, &[llm("text", &[])])[0].get("reasoning_content"), None);
}

fn origin_of(opaque: Opaque) -> Origin {
    Origin { adapter: opaque.adapter, model: opaque.model }
}

#[test]
fn fields_that_must_come_back_are_put_together_and_go_to_nobody_else() {
    let dialect = Dialect { keep: vec!["reasoning_details".into()], ..Dialect::default() };
    let origin = Origin { adapter: "own".into(), model: "m-1".into() };
    let detail = |text: &str| {
        delta(json!({"reasoning": text, "reasoning_details": [
            {"type": "reasoning.text", "text": text, "format": "x", "index": 0, "signature": null}]}))
    };
    let chunks = [
        detail("Let "),
        detail("me."),
        delta(json!({"reasoning_details": [{"type": "reasoning.text", "signature": "S1", "index": 0}]})),
        delta(json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "D1", "index": 1}]})),
        delta(json!({"content": "Hi"})),
    ];
    let mut decoder = Decoder::new(Asked { dialect: dialect.clone(), origin, ..Asked::default() });
    let mut items = decoder.push(&stream(&chunks));
    items.extend(decoder.finish());
    let details = json!([
        {"type": "reasoning.text", "text": "Let me.", "format": "x", "index": 0, "signature": "S1"},
        {"type": "reasoning.encrypted", "data": "D1", "index": 1},
    ]);
    let message = crate::adapter::testing::message(&items);
    let saved = crate::adapter::testing::saved(&message);
    assert_eq!(sent_with(&dialect, &[saved])[0]["reasoning_details"], details);
    assert_eq!(sent_with(&dialect, &[crate::adapter::testing::foreign(&message)])[0].get("reasoning_details"), None);
    assert_eq!(sent_with(&Dialect::default(), &[message])[0].get("reasoning_details"), None);
}

#[test]
fn r052_what_came_with_a_call_goes_back_after_a_restart_but_to_no_other_adapter() {
    let signed = json!({"google": {"thought_signature": "S1/é+=="}});
    let call = json!({"index": 0, "id": "A", "function": {"name": "f", "arguments": "{}"}, "extra_content": signed});
    let origin = Origin { adapter: "own".into(), model: "m-1".into() };
    let mut decoder = Decoder::new(Asked { origin, ..Asked::default() });
    let mut items = decoder.push(&stream(&[delta(json!({"tool_calls": [call]}))]));
    items.extend(decoder.finish());
    let message = crate::adapter::testing::saved(&crate::adapter::testing::message(&items));
    let sent = |message: Message| sent_with(&Dialect::default(), &[message])[0]["tool_calls"][0].clone();
    assert_eq!(sent(message.clone())["extra_content"], signed);
    assert_eq!(sent(crate::adapter::testing::foreign(&message)).get("extra_content"), None);
}

#[test]
fn an_answer_of_a_form_is_asked_for_where_the_server_takes_that() {
    let schema = json!({"type": "object"});
    let settings = Map::new();
    let format = |dialect: &Dialect| {
        build(BuildInput { answer: Some(&schema), dialect, ..input(&settings) }).body.get("response_format").cloned()
    };
    let wanted = json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": schema}});
    assert_eq!(format(&Dialect::default()), Some(wanted));
    assert_eq!(format(&Dialect { no_answer_schema: true, ..Dialect::default() }), None);
}

#[test]
fn a19_pictures_follow_the_last_result_of_their_batch_where_the_model_takes_them() {
    let picture = |data: &str| Attachment { mime: "image/png".into(), data: data.into() };
    let result = |id: &str, attachments| {
        Arc::new(Message::Tool { wire_id: id.into(), content: format!("of {id}"), is_error: false, attachments })
    };
    let user = |content: &str| {
        Arc::new(Message::User { content: content.into(), visible: true, typed: None, attachments: vec![] })
    };
    let messages = [
        result("c1", vec![picture("AA=="), picture("BB==")]),
        result("c2", vec![]),
        result("c3", vec![picture("CC==")]),
        user("and?"),
        result("c4", vec![picture("DD==")]),
    ];
    let built = |vision| {
        let settings = settings(json!({}));
        build(BuildInput { messages: &messages, vision, ..input(&settings) }).body["messages"].clone()
    };
    let tool = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": format!("of {id}")});
    let text = |id: &str| json!({"type": "text", "text": format!("From the result of the call {id}:")});
    let image =
        |data: &str| json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}")}});
    let asked = json!({"role": "user", "content": "and?"});
    assert_eq!(built(false), json!([tool("c1"), tool("c2"), tool("c3"), asked, tool("c4")]));
    assert_eq!(
        built(true),
        json!([
            tool("c1"), tool("c2"), tool("c3"),
            {"role": "user", "content": [text("c1"), image("AA=="), image("BB=="), text("c3"), image("CC==")]},
            asked,
            tool("c4"),
            {"role": "user", "content": [text("c4"), image("DD==")]},
        ])
    );
}

#[test]
fn a19_where_the_model_must_speak_between_it_does_so_before_the_pictures_and_their_call_has_its_sent_id() {
    let dialect = Dialect { call_id_length: Some(9), answer_between: true, ..Dialect::default() };
    let attachments = vec![Attachment { mime: "image/png".into(), data: "AA==".into() }];
    let history = [
        llm("", &[("call_lathe_1", "f", "{}")]),
        Message::Tool { wire_id: "call_lathe_1".into(), content: "x".into(), is_error: false, attachments },
        Message::User { content: "?".into(), visible: true, typed: None, attachments: vec![] },
    ]
    .map(Arc::new);
    let settings = Map::new();
    let built = build(BuildInput { messages: &history, dialect: &dialect, vision: true, ..input(&settings) }).body;
    let sent = built["messages"].as_array().expect("messages");
    let roles: Vec<&str> = sent.iter().filter_map(|message| message["role"].as_str()).collect();
    assert_eq!(roles, ["assistant", "tool", "assistant", "user", "user"]);
    let id = sent[1]["tool_call_id"].as_str().expect("an id");
    assert_eq!(id.len(), 9);
    assert_eq!(sent[3]["content"][0]["text"], format!("From the result of the call {id}:"));
}
