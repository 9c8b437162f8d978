//! Calls put together from every habit of a compatible server.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::adapter::item::{EndReason, Item};
use crate::adapter::names::Names;
use crate::adapter::testing::{
    arguments, asked, completion as stream, decode_with as decode, delta, end, failed, items as items_of, started,
    stream as events, usage,
};
use crate::adapter::{Decoder, Wire};

fn items(body: &[u8]) -> Vec<Item> {
    items_of(Wire::OpenAi, body)
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
        usage(50, 20),
        end(EndReason::ToolCalls),
    ];
    assert_eq!(found, wanted);
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
fn r049_the_models_name_is_the_tools_own_name_again() {
    let long = "s".repeat(81);
    let names = Names::new([long.as_str()]);
    let wire = names.wire(&long).into_owned();
    let body = stream(&[delta(json!({"tool_calls": [{"index": 0, "id": "A", "function": {"name": wire}}]}))]);
    assert_eq!(decode(&names, [body.as_slice()])[0], started(0, "A", &long));
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
}

/// How long it takes to read this much of arguments in pieces of 16 bytes.
fn time_to_read(bytes: usize) -> Duration {
    let begin =
        delta(json!({"tool_calls": [{"index": 0, "id": "A", "function": {"name": "f", "arguments": "{\"a\":\""}}]}));
    let piece = events(&[delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "}{0123456789abcd"}}]}))]);
    let mut decoder = Decoder::new(Wire::OpenAi, asked(Names::default(), true));
    decoder.push(&events(&[begin]));
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
