//! What one server wants of a history and another does not: ids, reasoning, fields that must come back.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::build::{build, call_of};
use super::decoder;
use crate::adapter::Wire;
use crate::adapter::item::Item;
use crate::adapter::names::Names;
use crate::adapter::request::{Asked, BuildInput, Dialect, Origin};
use crate::adapter::testing::{self, completion as stream, delta, input, llm, result};
use crate::message::{Attachment, Call, Message, Opaque};

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
        result("call_lathe_1", "1", true),
        result("abcDEF123", "2", true),
        result("call_lathe_2", "3", true),
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
    let sent = sent_with(&Dialect::default(), &[llm("", &[(long.as_str(), "f", "{}")]), result(&long, "1", true)]);
    assert_eq!(sent[0]["tool_calls"][0]["id"].as_str().map(str::len), Some(40));
    assert_eq!(sent[0]["tool_calls"][0]["id"], sent[1]["tool_call_id"]);
}

#[test]
fn a_dialect_gets_the_reasoning_of_its_own_calls_back_and_an_empty_one_for_others() {
    let dialect = Dialect { reasoning_back: Some("reasoning_content".into()), ..Dialect::default() };
    let asked =
        Asked { dialect: dialect.clone(), origin: own(json!({})).map(origin_of).expect("one"), ..Asked::default() };
    let mut decoder = decoder(asked);
    let items = decoder.push(&stream(&[delta(json!({"reasoning_content": "Hm."})), delta(json!({"content": "x"}))]));
    assert!(items.iter().any(|item| matches!(item, Item::Opaque(opaque) if opaque.adapter == "own")));
    let with = |opaque: Option<Opaque>| {
        let Message::Llm { content, reasoning, calls, .. } = llm("", &[("c", "f", "{}")]) else { unreachable!() };
        sent_with(&dialect, &[Message::Llm { content, reasoning, calls, opaque }])[0]["reasoning_content"].clone()
    };
    assert_eq!(with(own(json!({}))), "secret");
    assert_eq!(with(None), "");
    assert_eq!(sent_with(&dialect, &[llm("text", &[])])[0].get("reasoning_content"), None, "there are no tools");
    let called = [llm("", &[("c", "f", "{}")]), result("c", "1", false), llm("text", &[])];
    let sent = sent_with(&dialect, &called);
    assert_eq!((&sent[0]["reasoning_content"], &sent[2]["reasoning_content"]), (&json!(""), &json!("")));
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
    let mut decoder = decoder(Asked { dialect: dialect.clone(), origin, ..Asked::default() });
    let mut items = decoder.push(&stream(&chunks));
    items.extend(decoder.finish());
    let details = json!([
        {"type": "reasoning.text", "text": "Let me.", "format": "x", "index": 0, "signature": "S1"},
        {"type": "reasoning.encrypted", "data": "D1", "index": 1},
    ]);
    let message = testing::message(&items);
    let saved = testing::saved(&message);
    assert_eq!(sent_with(&dialect, &[saved])[0]["reasoning_details"], details);
    assert_eq!(sent_with(&dialect, &[testing::foreign(&message)])[0].get("reasoning_details"), None);
    assert_eq!(sent_with(&Dialect::default(), &[message])[0].get("reasoning_details"), None);
}

#[test]
fn r052_what_came_with_a_call_goes_back_with_it() {
    let found = testing::items(
        Wire::OpenAi,
        &stream(&[delta(json!({"tool_calls": [{
            "index": 0, "id": "A", "function": {"name": "f", "arguments": "{}"}, "_index": 7,
            "extra_content": {"google": {"thought_signature": "S1/é+=="}},
        }]}))]),
    );
    let extra = json!({"extra_content": {"google": {"thought_signature": "S1/é+=="}}});
    assert_eq!(found[1], Item::CallExtra { index: 0, extra: extra.clone() });
    let call = Call { wire_id: "A".into(), name: "f".into(), arguments: "{}".into(), extra: Some(extra) };
    // Also after a restart.
    let saved = serde_json::to_string(&call).expect("JSON");
    let call: Call = serde_json::from_str(&saved).expect("a call");
    assert_eq!(
        call_of(&call, "A", true, &Names::default()),
        json!({
            "id": "A", "type": "function", "function": {"name": "f", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": "S1/é+=="}},
        })
    );
}

#[test]
fn r052_what_came_with_a_call_goes_back_after_a_restart_but_to_no_other_adapter() {
    let signed = json!({"google": {"thought_signature": "S1/é+=="}});
    let call = json!({"index": 0, "id": "A", "function": {"name": "f", "arguments": "{}"}, "extra_content": signed});
    let origin = Origin { adapter: "own".into(), model: "m-1".into() };
    let mut decoder = decoder(Asked { origin, ..Asked::default() });
    let mut items = decoder.push(&stream(&[delta(json!({"tool_calls": [call]}))]));
    items.extend(decoder.finish());
    let message = testing::saved(&testing::message(&items));
    let sent = |message: Message| sent_with(&Dialect::default(), &[message])[0]["tool_calls"][0].clone();
    assert_eq!(sent(message.clone())["extra_content"], signed);
    assert_eq!(sent(testing::foreign(&message)).get("extra_content"), None);
}

/// What becomes of an answer in the next request of the same adapter: its message, and the one that another gets.
fn again(dialect: &Dialect, chunks: &[Value]) -> (Value, Value) {
    let origin = Origin { adapter: "own".into(), model: "m-1".into() };
    let mut decoder = decoder(Asked { dialect: dialect.clone(), origin, ..Asked::default() });
    let mut items = decoder.push(&stream(chunks));
    items.extend(decoder.finish());
    let message = testing::saved(&testing::message(&items));
    let sent = |message: Message| {
        let Message::Llm { calls, .. } = &message else { unreachable!() };
        let results: Vec<Message> = calls.iter().map(|call| result(&call.wire_id, "r", false)).collect();
        Value::Array(sent_with(dialect, &[&[message][..], &results].concat()))
    };
    (sent(message.clone()), sent(testing::foreign(&message)))
}

#[test]
fn an_id_goes_back_as_it_came_to_the_provider_that_made_it_and_shortened_to_others() {
    // A proxy hides the signature of a thought in it.
    let long = format!("call_1__thought__{}", "A+/=".repeat(300));
    for id in [long.as_str(), "f:0|x", "x"] {
        let call = json!({"index": 0, "id": id, "function": {"name": "f", "arguments": "{}"}});
        let (own, other) = again(&Dialect::default(), &[delta(json!({"tool_calls": [call]}))]);
        assert_eq!((&own[0]["tool_calls"][0]["id"], &own[1]["tool_call_id"]), (&json!(id), &json!(id)));
        let foreign = other[0]["tool_calls"][0]["id"].as_str().expect("an id");
        assert_eq!(other[1]["tool_call_id"], foreign);
        assert!(foreign.len() <= 40 && foreign.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{foreign}");
    }
}

#[test]
fn fields_that_only_the_provider_understands_return_untouched_wherever_they_came() {
    let signed = |place: &str| json!({"thought_signature": format!("{place}/é+=="), "n": 1.5});
    let function = json!({"name": "f", "arguments": "{}", "provider_specific_fields": signed("function")});
    let call = json!({"index": 0, "id": "A", "function": function, "provider_specific_fields": signed("call")});
    let (own, other) = again(
        &Dialect::default(),
        &[
            delta(json!({"thinking_blocks": [{"type": "thinking", "thinking": "Let "}]})),
            delta(json!({"thinking_blocks": [{"type": "thinking", "thinking": "me."}]})),
            delta(json!({"thinking_blocks": [{"type": "thinking", "thinking": "", "signature": "S1"}]})),
            delta(
                json!({"thinking_blocks": [{"type": "redacted_thinking", "data": "D"}], "provider_specific_fields": {"a": 1}}),
            ),
            delta(json!({"tool_calls": [call], "provider_specific_fields": {"b": [2]}})),
        ],
    );
    assert_eq!(own[0]["tool_calls"][0]["provider_specific_fields"], signed("call"));
    assert_eq!(own[0]["tool_calls"][0]["function"]["provider_specific_fields"], signed("function"));
    assert_eq!(own[0]["provider_specific_fields"], json!({"a": 1, "b": [2]}));
    let thought = json!({"type": "thinking", "thinking": "Let me.", "signature": "S1"});
    assert_eq!(own[0]["thinking_blocks"], json!([thought, {"type": "redacted_thinking", "data": "D"}]));
    assert!(!other.to_string().contains("thinking") && !other.to_string().contains("specific"), "{other}");
}

#[test]
fn thinking_in_parts_goes_back_in_parts_with_its_signature_to_the_model_that_thought() {
    let dialect = Dialect { thinking_parts: true, call_id_length: Some(9), ..Dialect::default() };
    let thinking = |text: &str| json!({"type": "thinking", "thinking": [{"type": "text", "text": text}]});
    let call = json!({"index": 0, "id": "abcDEF123", "function": {"name": "f", "arguments": "{}"}});
    let (own, other) = again(
        &dialect,
        &[
            delta(json!({"content": [thinking("Let ")]})),
            delta(json!({"content": [thinking("me.")]})),
            delta(json!({"content": [{"type": "thinking", "thinking": [], "signature": "S1", "closed": true}]})),
            delta(json!({"content": "So"})),
            delta(json!({"content": ": it is."})),
            delta(json!({"tool_calls": [call]})),
        ],
    );
    let thought = json!({"type": "thinking", "thinking": [{"type": "text", "text": "Let me."}], "signature": "S1", "closed": true});
    assert_eq!(own[0]["content"], json!([thought, {"type": "text", "text": "So: it is."}]));
    assert_eq!(own[0]["tool_calls"][0]["id"], "abcDEF123");
    assert_eq!(other[0]["content"], "So: it is.");
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
