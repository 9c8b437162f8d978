//! What holds on every wire: names, faults, pictures, cuts, and events with anything in them.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::testing::*;
use super::{BuildInput, Decoder, EndReason, Item, Names, Wire};
use crate::message::{Attachment, Call, Message, Opaque};

/// An answer that only says this, in one event.
fn saying(wire: Wire, text: &str) -> Vec<u8> {
    let stop = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}});
    match wire {
        Wire::OpenAi => stream(&[json!({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]})]),
        Wire::OpenAiResponses => stream(&[
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": text}),
            json!({"type": "response.completed", "response": {"status": "completed"}}),
        ]),
        Wire::Anthropic => stream(&[
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": text}}),
            stop,
        ]),
        Wire::Gemini => {
            stream(&[json!({"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]})])
        }
        Wire::Ollama => {
            let line = json!({"message": {"content": text}, "done": true, "done_reason": "stop"});
            format!("{line}\n").into_bytes()
        }
    }
}

#[test]
fn r059_a_long_event_cut_inside_a_character_is_the_same_on_every_wire() {
    for (name, wire) in Wire::ALL {
        let length = |filler: usize| saying(*wire, &"x".repeat(filler)).len();
        let before = saying(*wire, "é").windows(2).position(|bytes| bytes == "é".as_bytes()).expect("a place");
        let long = format!("{}é{}", "x".repeat(8191 - before), "y".repeat(12_000));
        let body = saying(*wire, &long);
        assert!(body.len() > 20_000 && length(0) < 8191, "{name}");
        assert_eq!(body[8191..8193], *"é".as_bytes(), "{name}");
        let decode = |pieces: &[&[u8]]| {
            let mut decoder = Decoder::new(*wire, asked(Names::default(), true));
            let mut items: Vec<Item> = pieces.iter().flat_map(|piece| decoder.push(piece)).collect();
            items.extend(decoder.finish());
            items
        };
        let wanted = vec![text(&long), end(EndReason::Stop)];
        let (left, right) = body.split_at(8192);
        assert_eq!(decode(&[left, right]), wanted, "{name}");
        assert_eq!(decode(&body.chunks(1).collect::<Vec<_>>()), wanted, "{name}");
    }
}

/// An answer that says two texts, in one event each. The texts are JSON without quotes.
fn saying_twice(wire: Wire, first: &[u8], second: &[u8]) -> Vec<u8> {
    let event = |text: &str| match wire {
        Wire::OpenAi => json!({"choices": [{"delta": {"content": text}}]}),
        Wire::OpenAiResponses => json!({"type": "response.output_text.delta", "output_index": 0, "delta": text}),
        Wire::Anthropic => {
            let delta = json!({"type": "text_delta", "text": text});
            json!({"type": "content_block_delta", "index": 0, "delta": delta})
        }
        Wire::Gemini => json!({"candidates": [{"content": {"parts": [{"text": text}]}}]}),
        Wire::Ollama => json!({"message": {"content": text}}),
    };
    let begin = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    let end = match wire {
        Wire::OpenAi => json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
        Wire::OpenAiResponses => json!({"type": "response.completed", "response": {"status": "completed"}}),
        Wire::Anthropic => json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        Wire::Gemini => json!({"candidates": [{"finishReason": "STOP"}]}),
        Wire::Ollama => json!({"message": {"content": ""}, "done": true, "done_reason": "stop"}),
    };
    let begin = (wire == Wire::Anthropic).then_some(begin);
    let mut body = Vec::new();
    for event in begin.into_iter().chain([event("FIRST"), event("SECOND"), end]) {
        let line = if wire == Wire::Ollama { format!("{event}\n") } else { format!("data: {event}\n\n") };
        body.extend(line.into_bytes());
    }
    for (mark, text) in [("FIRST", first), ("SECOND", second)] {
        let at = body.windows(mark.len()).position(|bytes| bytes == mark.as_bytes()).expect("the mark");
        body.splice(at..at + mark.len(), text.iter().copied());
    }
    body
}

#[test]
fn a_character_cut_over_two_events_waits_for_its_second_half_on_every_wire() {
    let crab = "🦀".as_bytes();
    let cuts = [&crab[..1], &crab[..2], &crab[..3]].map(|left| (left.to_vec(), crab[left.len()..].to_vec()));
    let escapes = (br"\ud83e".to_vec(), br"\udd80".to_vec());
    for (name, wire) in Wire::ALL {
        for (left, right) in cuts.iter().chain([&escapes]) {
            let body = saying_twice(*wire, &[b"a", &left[..]].concat(), &[&right[..], b"b"].concat());
            assert_eq!(items(*wire, &body), [text("a"), text("🦀b"), end(EndReason::Stop)], "{name}: {left:x?}");
            let body = saying_twice(*wire, &[b"a", &left[..]].concat(), b"b");
            let said: String = items(*wire, &body)
                .iter()
                .map(|item| if let Item::Text(text) = item { &text[..] } else { "" })
                .collect();
            assert_eq!(said, "a\u{fffd}b", "{name}: {left:x?}");
        }
    }
}

#[test]
fn r049_a_long_name_is_cut_on_every_wire_and_maps_back() {
    let long = format!("{}__{}", "s".repeat(40), "t".repeat(41));
    let tools = [tool(&long, json!({"type": "object", "properties": {"a": {"type": "string"}}}), None)];
    for (wire_name, wire) in Wire::ALL {
        let built = built(*wire, &[user("?")], json!({}), BuildInput { tools: &tools, ..nothing() });
        let name = built.names.wire(&long).into_owned();
        assert_eq!((name.len(), built.names.tool(&name)), (64, long.as_str()), "{wire_name}");
        assert!(built.body["tools"].to_string().contains(&name), "{wire_name}");
        assert!(!built.body.to_string().contains(&format!("\"{long}\"")), "{wire_name}");
    }
}

#[test]
fn r047_one_tool_that_cannot_be_offered_is_named_on_every_wire_and_the_others_are() {
    let tools = [tool("bad", json!({"type": "array"}), Some(true)), tool("good", json!(null), None)];
    for (name, wire) in Wire::ALL {
        let built = built(*wire, &[user("?")], json!({}), BuildInput { tools: &tools, ..nothing() });
        assert!(matches!(&built.faults[..], [fault] if fault.contains("\"bad\" is not offered")), "{name}");
        let offered = built.body["tools"].to_string();
        assert!(offered.contains("\"good\"") && !offered.contains("\"bad\""), "{name}: {offered}");
    }
}

#[test]
fn pictures_of_results_are_in_the_form_of_each_wire_and_only_where_the_model_takes_them() {
    let result = |id: &str, content: &str, data: &str| {
        let attachments = vec![Attachment { mime: "image/png".into(), data: data.into() }];
        Message::Tool { wire_id: id.into(), content: content.into(), is_error: false, attachments }
    };
    let history = [
        user("?"),
        llm("", &[("c1", "f", "{}"), ("c2", "g", "{}")]),
        result("c1", "one", "AA=="),
        result("c2", "", "BB=="),
        user("and?"),
    ];
    let sent = |wire, vision| {
        let built = built(wire, &history, json!({}), BuildInput { vision, ..nothing() });
        let list = ["messages", "input", "contents"].iter().find_map(|field| built.body.get(*field).cloned());
        list.expect("messages").as_array().expect("a list").clone()
    };
    for (name, wire) in Wire::ALL {
        let plain = json!(sent(*wire, false)).to_string();
        assert!(!plain.contains("AA==") && plain.contains("one"), "{name}: {plain}");
    }
    let url = |data: &str| format!("data:image/png;base64,{data}");
    let image = |data: &str| json!({"type": "image_url", "image_url": {"url": url(data)}});
    let note = |id: &str| json!({"type": "text", "text": format!("From the result of the call {id}:")});
    let chat = sent(Wire::OpenAi, true);
    assert_eq!(chat[4], json!({"role": "user", "content": [note("c1"), image("AA=="), note("c2"), image("BB==")]}));
    assert_eq!(chat[5], json!({"role": "user", "content": "and?"}));
    let responses = sent(Wire::OpenAiResponses, true);
    let parts = json!([{"type": "input_text", "text": "one"}, {"type": "input_image", "detail": "auto", "image_url": url("AA==")}]);
    assert_eq!(responses[3]["output"], parts);
    let source = |data: &str| json!({"type": "base64", "media_type": "image/png", "data": data});
    let image = |data: &str| json!({"type": "image", "source": source(data)});
    let anthropic = sent(Wire::Anthropic, true);
    let blocks = &anthropic[2]["content"];
    assert_eq!(blocks[0]["content"], json!([{"type": "text", "text": "one"}, image("AA==")]));
    assert_eq!(blocks[1]["content"], json!([image("BB==")]));
    let inline = |data: &str| json!({"inlineData": {"mimeType": "image/png", "data": data}});
    let gemini = sent(Wire::Gemini, true);
    assert_eq!(gemini[3], json!({"role": "user", "parts": [inline("AA=="), inline("BB==")]}));
    assert_eq!(gemini[2]["parts"].as_array().map(Vec::len), Some(2));
    assert_eq!(sent(Wire::Ollama, true)[2]["images"], json!(["AA=="]));
}

#[test]
fn r055_what_lathe_keeps_with_a_call_is_sent_on_no_wire() {
    let extra = Some(json!({"_index": 0, "extra_content": {"secret": 1}}));
    let call = Call { wire_id: "c1".into(), name: "f".into(), arguments: "{}".into(), extra };
    let foreign =
        Opaque { adapter: "other".into(), model: "m-1".into(), data: json!({"blocks": [], "items": [], "parts": []}) };
    let answer =
        Message::Llm { content: String::new(), reasoning: "r".into(), calls: vec![call], opaque: Some(foreign) };
    for (name, wire) in Wire::ALL {
        let sent = body(*wire, &[user("?"), answer.clone(), result("c1", "x", false)], &[], json!({})).to_string();
        for word in ["_index", "extra_content", "secret", "opaque", "\"r\""] {
            assert!(!sent.contains(word), "{name}: {word} in {sent}");
        }
    }
}

/// Values of every kind, where a provider might put them.
fn odd() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-7.5),
        json!(""),
        json!("a"),
        json!("{\"a\":1}"),
        json!([]),
        json!({}),
        json!([null, "a", {"type": "text", "text": "t"}]),
        json!({"type": "tool_use", "id": "i", "name": "n", "input": {}}),
        json!({"type": "input_json_delta", "partial_json": "{"}),
        json!({"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"}),
        json!({"parts": [{"functionCall": {"name": "n", "args": {}}}, {"text": "t", "thoughtSignature": "s"}]}),
        json!({"role": "assistant", "content": "t", "tool_calls": [{"function": {"name": "n", "arguments": {}}}]}),
    ])
}

/// Events whose fields and types exist, with anything in them.
fn event() -> impl Strategy<Value = Value> {
    use super::known::kinds;
    let kinds = [kinds::ANTHROPIC_EVENTS, kinds::OPENAI_RESPONSE_EVENTS, &["message", "response"]].concat();
    let kinds = prop::sample::select(kinds);
    let fields = prop::sample::select(vec![
        "index",
        "content_block",
        "delta",
        "message",
        "usage",
        "content",
        "stop_reason",
        "item",
        "output_index",
        "response",
        "candidates",
        "promptFeedback",
        "usageMetadata",
        "done",
        "done_reason",
        "output",
        "object",
        "error",
        "status",
    ]);
    let fields = prop::collection::vec((fields, odd()), 0..5);
    (kinds, fields, any::<bool>()).prop_map(|(kind, fields, typed)| {
        let mut event = Map::new();
        if typed {
            event.insert("type".to_owned(), json!(kind));
        }
        event.extend(fields.into_iter().map(|(field, value)| (field.to_owned(), value)));
        // What is a list in the format holds such values.
        if let Some(candidate) = event.get("candidates").cloned() {
            event.insert("candidates".to_owned(), json!([{"content": candidate, "finishReason": "STOP"}]));
        }
        Value::Object(event)
    })
}

proptest! {
    #[test]
    fn no_events_break_a_decoder_and_each_ends_once(events in prop::collection::vec(event(), 0..6), size in 1usize..40) {
        for (name, wire) in Wire::ALL {
            let body: Vec<u8> = if *wire == Wire::Ollama {
                events.iter().map(|event| format!("{event}\n")).collect::<String>().into_bytes()
            } else {
                stream(&events)
            };
            let decode = |size: usize| {
                let mut decoder = Decoder::new(*wire, asked(Names::default(), true));
                let mut items: Vec<Item> = body.chunks(size).flat_map(|piece| decoder.push(piece)).collect();
                items.extend(decoder.finish());
                items
            };
            let whole = decode(usize::MAX);
            prop_assert_eq!(&decode(size), &whole, "{}", name);
            let is_end = |item: &&Item| matches!(item, Item::End { .. } | Item::Failed(_));
            prop_assert_eq!(whole.iter().filter(is_end).count(), 1, "{}", name);
            prop_assert!(whole.last().as_ref().is_some_and(is_end), "{}", name);
            // What was kept of it can be sent.
            let answer = message(&whole);
            let ids: Vec<String> = match &answer {
                Message::Llm { calls, .. } => calls.iter().map(|call| call.wire_id.clone()).collect(),
                _ => unreachable!(),
            };
            let mut history = vec![user("?"), answer];
            history.extend(ids.iter().map(|id| result(id, "r", false)));
            body_of(*wire, &history);
        }
    }
}

fn body_of(wire: Wire, history: &[Message]) {
    body(wire, history, &[], json!({"model": "m-1"}));
}

#[test]
fn recordings_are_read_the_same_at_every_cut_and_with_both_line_ends() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut played = 0;
    for file in std::fs::read_dir(folder).expect("fixtures").map(|file| file.expect("a file").path()) {
        let name = file.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        // The longest name first: `openai_responses` is no `openai`.
        let wire = Wire::ALL.iter().filter(|(wire, _)| name.starts_with(&format!("{wire}_")));
        let Some((_, wire)) = wire.max_by_key(|(wire, _)| wire.len()) else { continue };
        let recorded = std::fs::read(&file).expect("readable");
        let text = String::from_utf8(recorded).expect("text").replace("\r\n", "\n");
        let decode = |body: &str, size: usize| {
            let mut decoder = Decoder::new(*wire, asked(Names::default(), true));
            let mut items: Vec<Item> = body.as_bytes().chunks(size).flat_map(|piece| decoder.push(piece)).collect();
            items.extend(decoder.finish());
            items
        };
        let whole = decode(&text, usize::MAX);
        assert!(whole.len() > 1, "{name}: {whole:?}");
        for size in [1, 7, 4096] {
            assert_eq!(decode(&text, size), whole, "{name} by {size}");
            assert_eq!(decode(&text.replace('\n', "\r\n"), size), whole, "{name} with CRLF by {size}");
        }
        played += 1;
    }
    assert!(played >= 21, "{played}");
}

/// An answer that only calls `f`, under this id.
fn calling(wire: Wire, id: &str) -> Vec<u8> {
    let function = json!({"name": "f", "arguments": "{}"});
    match wire {
        Wire::OpenAi => {
            stream(&[json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": id, "function": function}]},
            "finish_reason": "tool_calls"}]})])
        }
        Wire::OpenAiResponses => {
            let item = json!({"type": "function_call", "id": "fc_1", "call_id": id, "name": "f", "arguments": "{}"});
            stream(&[
                json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
                json!({"type": "response.completed", "response": {"status": "completed"}}),
            ])
        }
        Wire::Anthropic => stream(&[
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": id, "name": "f", "input": {}}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        ]),
        Wire::Gemini => {
            let part = json!({"functionCall": {"id": id, "name": "f", "args": {}}});
            stream(&[json!({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]})])
        }
        Wire::Ollama => {
            let call = json!({"id": id, "function": {"name": "f", "arguments": {}}});
            format!("{}\n", json!({"message": {"content": "", "tool_calls": [call]}, "done": true})).into_bytes()
        }
    }
}

#[test]
fn an_id_goes_back_as_it_came_on_every_wire_and_in_a_form_that_others_take() {
    let long = format!("call.1|{}", "A+/=".repeat(300));
    for (name, wire) in Wire::ALL {
        let said = saved(&message(&items(*wire, &calling(*wire, &long))));
        let sent = |said: &Message| {
            let history = [user("?"), said.clone(), result(&long, "r", false)];
            body(*wire, &history, &[tool("f", json!(null), None)], json!({"model": "m-1"})).to_string()
        };
        assert_eq!(sent(&said).matches(&long).count(), 2, "{name}: the call and its result");
        if *wire != Wire::Ollama {
            assert!(!sent(&foreign(&said)).contains(&long), "{name}");
        }
    }
}

/// An answer of one piece of this kind, with its fields.
fn of_kind(wire: Wire, kind: &str) -> Vec<u8> {
    let piece = json!({"type": kind, "id": "i", "call_id": "i", "tool_use_id": "i", "name": "f", "input": {}, "arguments": "{}",
        "content": [], "text": "t", "summary": [], "status": "completed", "own": {"kept": true}});
    match wire {
        Wire::OpenAi => {
            let delta = json!({"content": [piece], "tool_calls": null});
            stream(&[json!({"choices": [{"delta": delta, "finish_reason": "stop"}]})])
        }
        Wire::OpenAiResponses => stream(&[
            json!({"type": "response.output_item.done", "output_index": 0, "item": piece}),
            json!({"type": "response.completed", "response": {"status": "completed"}}),
        ]),
        Wire::Anthropic => stream(&[
            json!({"type": "content_block_start", "index": 0, "content_block": piece}),
            json!({"type": "content_block_delta", "index": 0, "delta": piece}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        ]),
        Wire::Gemini => {
            let part = json!({kind: {"own": true}, "text": if kind == "text" { json!("t") } else { Value::Null }});
            stream(&[json!({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]})])
        }
        Wire::Ollama => unreachable!("it has no kinds"),
    }
}

#[test]
fn every_kind_that_providers_know_is_read_or_passed_over_and_can_be_sent_back() {
    use super::known::kinds;
    for (wire, kinds) in [
        (Wire::Anthropic, kinds::ANTHROPIC_BLOCKS),
        (Wire::Anthropic, kinds::ANTHROPIC_DELTAS),
        (Wire::OpenAiResponses, kinds::OPENAI_RESPONSE_ITEMS),
        (Wire::Gemini, kinds::GEMINI_PARTS),
        (Wire::OpenAi, kinds::MISTRAL_CHUNKS),
    ] {
        for kind in kinds {
            let found = items(wire, &of_kind(wire, kind));
            assert!(matches!(found.last(), Some(Item::End { .. })), "{kind}: {found:?}");
            let said = saved(&message(&found));
            let results: Vec<Message> = match &said {
                Message::Llm { calls, .. } => calls.iter().map(|call| result(&call.wire_id, "r", false)).collect(),
                _ => Vec::new(),
            };
            body_of(wire, &[&[user("?"), said][..], &results].concat());
        }
    }
}
