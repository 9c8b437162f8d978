//! A provider that binds thinking to what stood before it, and refuses it after anything else.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use serde_json::{Value, json};

use super::{editor, open_chat, provider, sse};
use crate::support::server::{Received, Reply, Server, text};

fn hash(value: &Value) -> String {
    // The keys in one order: what counts is what a body means.
    let mut value = value.clone();
    value.sort_all_objects();
    let mut hasher = DefaultHasher::new();
    value.to_string().hash(&mut hasher);
    format!("sig-{:016x}", hasher.finish())
}

fn unmarked(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("cache_control");
            fields.values_mut().for_each(unmarked);
        }
        Value::Array(values) => values.iter_mut().for_each(unmarked),
        _ => {}
    }
}

/// Refuses thinking after another prefix, else thinks, and calls the calculator for a message that asks for it.
fn answer(received: &Received) -> Reply {
    let mut body = received.body.clone();
    unmarked(&mut body);
    let messages = body["messages"].as_array().unwrap();
    let prefix = |at: usize, block: usize| {
        let begun = messages.get(at).map(|message| message["content"].as_array().unwrap()[..block].to_vec());
        hash(&json!([body["system"], body["tools"], messages[..at], begun.unwrap_or_default()]))
    };
    for (at, message) in messages.iter().enumerate() {
        for (number, block) in message["content"].as_array().unwrap().iter().enumerate() {
            if block["type"] == "thinking" && block["signature"] != prefix(at, number) {
                let message = format!("messages.{at}.content.{number}: the conversation before this block has changed");
                let error = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
                return text(400, "content-type: application/json\r\n", &error.to_string());
            }
        }
    }
    let last = messages.last().unwrap()["content"].as_array().unwrap();
    let is_result = last.iter().any(|block| block["type"] == "tool_result");
    let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": prefix(messages.len(), 0)});
    let said = if is_result {
        json!({"type": "text", "text": format!("Done {}.", messages.len())})
    } else {
        json!({"type": "tool_use", "id": format!("toolu_{}", messages.len()), "name": "calculator", "input": {"num1": 1.5}})
    };
    let mut events = vec![json!({"type": "message_start", "message": {}})];
    for (index, block) in [thinking, said].into_iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let reason = if is_result { "end_turn" } else { "tool_use" };
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}}));
    events.push(json!({"type": "message_stop"}));
    sse(&events)
}

#[test]
fn a_tool_or_a_prompt_that_is_added_in_mid_chat_does_not_leave_the_chat_stuck() {
    let server = Server::answering(|received, _| answer(received));
    let editor = editor();
    editor.lua("tools.late = tool('late', { function() return { status = 'success', data = 1 } end }, { system_prompt = 'Be late.' })");
    open_chat(&editor, &[(&provider("anthropic"), &server)]);
    let turn = |number: usize| {
        editor.lua("send('Calculate')");
        editor.wait_lua(&format!("not chat.is_running and #chat.messages >= {}", number * 4));
        assert!(editor.buffer().contains(&format!("Done {}.", number * 4 - 1)), "{}", editor.buffer());
    };
    let thoughts = || {
        let last = server.received().pop().unwrap().body["messages"].to_string();
        last.matches("\"thinking\":\"Hm.\"").count()
    };
    turn(1);
    turn(2);
    assert_eq!(thoughts(), 3, "all of it goes back as long as nothing changes");
    editor.lua("assert(chat.tool_registry:add('late'))");
    turn(3);
    assert_eq!(thoughts(), 1, "only what was thought since");
    turn(4);
    assert_eq!(thoughts(), 3);
    editor.lua("chat.system_prompt = 'Be long.'");
    turn(5);
    assert_eq!(thoughts(), 1);
    editor.lua("chat.tool_registry:remove('late')");
    turn(6);
    assert_eq!(thoughts(), 1);
    editor.assert_no_fault();
}
