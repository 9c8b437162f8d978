//! Answers cut everywhere: text, reasoning, errors and ends, and one outcome for each habit of a compatible server.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::adapter::Wire;
use crate::adapter::item::{EndReason, Item};
use crate::adapter::names::Names;
use crate::adapter::testing::{
    self, arguments, completion as stream, decode_with as decode, delta, end, failed, reasoning, started, text, usage,
};

/// The items of an answer, the same for every way to cut it in two and for single bytes.
fn items(body: &[u8]) -> Vec<Item> {
    testing::items(Wire::OpenAi, body)
}

#[test]
fn a_stream_of_text_is_the_same_for_every_split_and_line_end() {
    let fixture = include_str!("../../../tests/fixtures/openai_text.sse");
    let wanted = [text("Grüße"), text(", 世界 🦀"), usage(19, 5), end(EndReason::Stop)];
    assert_eq!(items(fixture.as_bytes()), wanted);
    assert_eq!(items(fixture.replace('\n', "\r\n").as_bytes()), wanted);
    assert_eq!(items(fixture.replace('\n', "\r").as_bytes()), wanted);
    assert_eq!(items(fixture.trim_end().as_bytes()), wanted);
    assert_eq!(items(fixture.replace("data: [DONE]\n\n", "").as_bytes()), wanted);
    assert_eq!(items(format!("\u{feff}{fixture}").as_bytes()), wanted);
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
        usage(9, 8),
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
        failed("slot"),
        "the field of the stream says that it is one"
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
    assert_eq!(after("data: {\"error\": null, \"choices\": []}\n\ndata: [DONE]\n\n"), end(EndReason::Stop));
}

#[test]
fn a_stream_that_stops_without_a_reason_or_a_mark_is_a_broken_answer() {
    let broken = "The answer ends before the server says that it is complete.";
    let call = json!({"tool_calls": [{"index": 0, "id": "A", "function": {"name": "f", "arguments": "{\"a\":1}"}}]});
    let chunks = [delta(json!({"content": "Half"})), delta(call)];
    let found = items(&testing::stream(&chunks));
    assert_eq!(found, [text("Half"), started(0, "A", "f"), arguments(0, "{\"a\":1}"), failed(broken)][..]);
    // Either of the two is an end.
    assert_eq!(items(&stream(&chunks)).last(), Some(&end(EndReason::ToolCalls)));
    let stop = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    assert_eq!(items(&testing::stream(&[&chunks[..], &[stop]].concat())).last(), Some(&end(EndReason::ToolCalls)));
    // A document that is all there needs neither.
    let whole = json!({"choices": [{"message": {"content": "All"}}]}).to_string();
    assert_eq!(items(whole.as_bytes()), [text("All"), end(EndReason::Stop)]);
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
        usage(3, 4),
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
    assert_eq!(t(json!("content_filter")), end(EndReason::ContentFilter(String::new())));
    assert_eq!(t(json!("tool_calls")), end(EndReason::ToolCalls));
    assert_eq!(t(json!("function_call")), end(EndReason::ToolCalls));
    assert_eq!(t(json!("error")), failed("The provider ended the answer: error"));
    assert_eq!(t(json!("model_length")), end(EndReason::Length));
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
fn several_choices_without_a_number_are_one_answer() {
    let call = json!({"id": "A", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}});
    let choices = json!([
        {"message": {"role": "assistant", "content": "Let me see."}, "finish_reason": "stop"},
        {"message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"},
    ]);
    let wanted = [text("Let me see."), started(0, "A", "f"), arguments(0, "{\"a\":1}"), end(EndReason::ToolCalls)];
    assert_eq!(items(json!({"choices": choices}).to_string().as_bytes()), wanted);
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
        let body = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{content}\"}}}}]}}\n\ndata: [DONE]\n\n");
        said(&items(body.as_bytes()))
    };
    assert_eq!(t(r"a\ud83d"), "a\u{fffd}");
    assert_eq!(t(r"\ude00b"), "\u{fffd}b");
    assert_eq!(t(r"\ud83d\ud83d\ude00\\ud83d\n"), "\u{fffd}😀\\ud83d\n");
    assert_eq!(t(r"\ud83d\ude00"), "😀");
}

/// The text of an answer.
fn said(items: &[Item]) -> String {
    let text = |item: &Item| if let Item::Text(text) = item { text.clone() } else { String::new() };
    items.iter().map(text).collect()
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
fn usage_is_told_once_as_the_server_counted_last() {
    let counted = |output: u64| json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": output}});
    let found = items(&stream(&[counted(1), counted(1), counted(2), json!({"usage": null, "choices": []})]));
    assert_eq!(found, [usage(3, 2), end(EndReason::Stop)]);
}

proptest! {
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
