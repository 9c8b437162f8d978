//! What goes back as it came, and what must not: thinking, containers, fields of calls; and what is marked for the cache.

use serde_json::{Value, json};

use crate::adapter::testing::*;
use crate::adapter::{BuildInput, Dialect, Item, Wire};
use crate::message::Message;

const WIRE: Wire = Wire::Anthropic;

/// An answer of these blocks.
fn answer(blocks: &[Value], delta: Value) -> Vec<u8> {
    let mut events = vec![json!({"type": "message_start", "message": {"usage": {}}})];
    for (index, block) in blocks.iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.extend([json!({"type": "message_delta", "delta": delta}), json!({"type": "message_stop"})]);
    stream(&events)
}

fn thought(number: u32) -> Value {
    json!({"type": "thinking", "thinking": format!("Thought {number}."), "signature": format!("S{number}")})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "f", "input": {"a": 1}})
}

/// The thoughts that a body sends.
fn thoughts(body: &Value) -> Vec<String> {
    let blocks =
        body["messages"].as_array().expect("messages").iter().filter_map(|message| message["content"].as_array());
    blocks.flatten().filter_map(|block| Some(block["signature"].as_str()?.to_owned())).collect()
}

/// A chat of several turns, each with a call and thinking before and after it.
struct Chat {
    system: Vec<&'static str>,
    tools: Vec<&'static str>,
    history: Vec<Message>,
    thoughts: u32,
}

impl Chat {
    fn new() -> Self {
        Self { system: vec!["Be brief."], tools: vec!["f"], history: Vec::new(), thoughts: 0 }
    }

    fn sent(&self) -> Value {
        self.built().body
    }

    fn built(&self) -> crate::adapter::Built {
        let tools: Vec<_> = self.tools.iter().map(|name| tool(name, json!(null), None)).collect();
        let messages: Vec<_> =
            self.system.iter().map(|text| system(text)).chain(self.history.iter().cloned()).collect();
        built(WIRE, &messages, json!({"model": "m-1"}), BuildInput { tools: &tools, ..nothing() })
    }

    fn hear(&mut self, mut blocks: Vec<Value>) {
        self.thoughts += 1;
        blocks.insert(0, thought(self.thoughts));
        let prefix = self.built().prefix;
        let mut decoder =
            crate::adapter::Decoder::new(WIRE, crate::adapter::Asked { prefix, ..asked(Default::default(), true) });
        let items = decoder.push(&answer(&blocks, json!({"stop_reason": "end_turn"})));
        self.history.push(saved(&message(&items)));
    }

    fn turn(&mut self) {
        let id = format!("toolu_{}", self.thoughts);
        self.history.push(user("?"));
        self.hear(vec![call(&id)]);
        self.history.push(result(&id, "r", false));
        self.hear(vec![json!({"type": "text", "text": "Done."})]);
    }
}

type Change = fn(&mut Chat);

#[test]
fn thinking_goes_back_only_after_what_stood_before_it() {
    let changes: [(&str, Change); 6] = [
        ("a tool is added", |chat| chat.tools.push("g")),
        ("a tool is gone", |chat| chat.tools = vec!["g"]),
        ("the system prompt changes", |chat| chat.system = vec!["Be long."]),
        ("a prompt is added", |chat| chat.system.push("Use g.")),
        ("the first message changes", |chat| chat.history[0] = user("!")),
        ("a result changes", |chat| chat.history[2] = result("toolu_0", "other", false)),
    ];
    for (what, change) in changes {
        let mut chat = Chat::new();
        chat.turn();
        chat.turn();
        assert_eq!(thoughts(&chat.sent()), ["S1", "S2", "S3", "S4"], "{what}");
        change(&mut chat);
        let left: &[&str] = if what == "a result changes" { &["S1"] } else { &[] };
        assert_eq!(thoughts(&chat.sent()), left, "{what}: all that came later is gone, too");
        // What is thought from now on has a prefix without them, and stays.
        chat.turn();
        assert_eq!(thoughts(&chat.sent()), [left, &["S5", "S6"]].concat(), "{what}");
    }
}

#[test]
fn thinking_without_a_known_prefix_is_left_out_and_the_rest_stays() {
    let mut chat = Chat::new();
    chat.turn();
    let Message::Llm { opaque: Some(opaque), .. } = &mut chat.history[1] else { panic!("an answer") };
    opaque.data.as_object_mut().expect("data").remove("prefix");
    let sent = chat.sent();
    assert_eq!(thoughts(&sent), [""; 0]);
    assert_eq!(sent["messages"][1]["content"], json!([call("toolu_0")]));
}

#[test]
fn a_call_goes_back_with_the_fields_and_the_letters_that_it_came_with() {
    let input = r#"{"n": 1e5, "big": 12345678901234567890123, "z": 1.10}"#;
    let caller = json!({"type": "code_execution_20260521", "tool_id": "srvtoolu_1"});
    let own = json!({"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}, "caller": caller, "toolset_name": "t", "new": null});
    let deltas = [
        json!({"type": "content_block_start", "index": 0, "content_block": own}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": input}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
    ];
    let said = answer_to(WIRE, &[user("?")], &[], json!({}), &stream(&deltas));
    let history = [user("?"), said.clone(), result("toolu_1", "r", false)];
    let built = built(WIRE, &history, json!({}), nothing());
    assert!(built.json().contains(&format!("\"input\":{input}")), "{}", built.json());
    let sent = &built.body["messages"][1]["content"][0];
    assert_eq!((&sent["caller"], &sent["toolset_name"], sent.get("new")), (&caller, &json!("t"), None));
    // Another adapter's call has only what a call has.
    let other = body(WIRE, &[user("?"), foreign(&said), result("toolu_1", "r", false)], &[], json!({}));
    assert_eq!(other["messages"][1]["content"][0].as_object().map(serde_json::Map::len), Some(4));
}

#[test]
fn input_that_is_whole_at_the_start_and_comes_again_in_pieces_counts_once() {
    let t = |pieces: &[&str]| {
        let mut events = vec![json!({"type": "content_block_start", "index": 0, "content_block": call("toolu_1")})];
        events.extend(pieces.iter().map(|piece| {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}})
        }));
        events.push(json!({"type": "content_block_stop", "index": 0}));
        events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
        let found = items(WIRE, &stream(&events));
        found
            .iter()
            .filter_map(|item| if let Item::CallArguments { text, .. } = item { Some(&**text) } else { None })
            .collect::<String>()
    };
    assert_eq!(t(&[]), r#"{"a":1}"#);
    assert_eq!(t(&[""]), r#"{"a":1}"#);
    assert_eq!(t(&["{\"a\"", ": 1}"]), r#"{"a": 1}"#);
}

#[test]
fn a_container_goes_with_the_next_request_until_it_is_gone() {
    let ran = [
        json!({"type": "server_tool_use", "id": "s", "name": "code_execution", "input": {"code": "1"}}),
        json!({"type": "code_execution_tool_result", "tool_use_id": "s", "content": {"type": "code_execution_result", "stdout": "1", "return_code": 0}}),
        json!({"type": "text", "text": "One."}),
    ];
    let own = [json!({"type": "code_execution_20260521", "name": "code_execution"})];
    let sent = |ends: &str, extra_tools: &[Value]| {
        let container = json!({"id": "container_1", "expires_at": ends, "skills": null});
        let delta = json!({"stop_reason": "end_turn", "container": container});
        let said = answer_to(WIRE, &[user("?")], &[], json!({}), &answer(&ran, delta));
        built(WIRE, &[user("?"), said, user("!")], json!({}), BuildInput { extra_tools, ..nothing() }).body
    };
    assert_eq!(sent("2026-12-31T00:00:00.123Z", &own)["container"], "container_1");
    assert_eq!(sent("2026-05-28T00:00:00Z", &own).get("container"), None, "it is gone");
    assert_eq!(sent("2026-12-31T00:00:00Z", &[]).get("container"), None, "nothing runs code");
}

#[test]
fn a_pause_goes_on_also_when_it_is_only_text_or_compacted() {
    let compacted =
        json!({"type": "compaction", "content": "So far: x.", "encrypted_content": "E+/=", "signature": null});
    let mut events = vec![
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "compaction", "content": null, "signature": null}}),
    ];
    events.push(json!({"type": "content_block_delta", "index": 0,
        "delta": {"type": "compaction_delta", "content": "So far: x.", "encrypted_content": "E+/="}}));
    events.push(json!({"type": "content_block_stop", "index": 0}));
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": "compaction"}}));
    for (body_of_answer, block) in [
        (
            answer(&[json!({"type": "text", "text": "Let me"})], json!({"stop_reason": "pause_turn"})),
            json!({"type": "text", "text": "Let me"}),
        ),
        (stream(&events), compacted),
    ] {
        let found = items(WIRE, &body_of_answer);
        assert_eq!(found.last(), Some(&end(crate::adapter::EndReason::Paused)));
        let sent = body(WIRE, &[user("?"), saved(&message(&found))], &[], json!({}));
        assert_eq!(sent["messages"][1]["content"], json!([block]));
    }
}

#[test]
fn four_places_are_marked_for_the_cache_and_marks_do_not_count_for_thinking() {
    let mut chat = Chat::new();
    for _ in 0..3 {
        chat.turn();
    }
    chat.history.push(user("more"));
    let mark = json!({"type": "ephemeral", "ttl": "1h"});
    let tools = [tool("f", json!(null), None)];
    let messages: Vec<_> = chat.system.iter().map(|text| system(text)).chain(chat.history.iter().cloned()).collect();
    let settings = json!({"model": "m-1", "cache_control": mark});
    let sent = built(WIRE, &messages, settings, BuildInput { tools: &tools, ..nothing() });
    let body = sent.body;
    assert_eq!(body.get("cache_control"), None, "the places say more than the whole");
    assert_eq!(body["tools"][0]["cache_control"], mark);
    assert_eq!(body["system"][0]["cache_control"], mark);
    let messages = body["messages"].as_array().expect("messages");
    let marked: Vec<usize> =
        (0..messages.len()).filter(|at| messages[*at].to_string().contains("cache_control")).collect();
    assert_eq!(marked, [messages.len() - 3, messages.len() - 1]);
    assert_eq!(messages[messages.len() - 3]["content"][0]["cache_control"], mark);
    assert_eq!(body.to_string().matches("cache_control").count(), 4);
    assert_eq!(thoughts(&body).len(), 6);
    assert!(!chat.sent().to_string().contains("cache_control"), "without the setting there are none");
}

#[test]
fn eager_input_and_strict_tools_are_asked_for_where_the_model_takes_them() {
    let tools = [tool("f", json!({"type": "object", "properties": {"a": {"type": "string"}}}), Some(true))];
    let sent = |dialect: &Dialect| {
        built(WIRE, &[user("?")], json!({}), BuildInput { tools: &tools, dialect, ..nothing() }).body["tools"][0]
            .clone()
    };
    let new = sent(&Dialect { eager_input: true, ..Dialect::default() });
    assert_eq!((&new["eager_input_streaming"], &new["strict"]), (&json!(true), &json!(true)));
    assert_eq!(new["input_schema"]["additionalProperties"], false);
    let old = sent(&Dialect { no_strict: true, ..Dialect::default() });
    assert_eq!((old.get("eager_input_streaming"), old.get("strict")), (None, None));
    assert_eq!(old["input_schema"].get("additionalProperties"), None);
}
