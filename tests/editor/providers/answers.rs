//! One answer in the form of each provider.

use serde_json::{Value, json};

use super::{Answer, LIST, REASONING};
use crate::support::server::{Reply, stream, text};

pub fn openai_answer(answer: &Answer) -> Reply {
    let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let mut events = vec![
        delta(json!({"role": "assistant", "reasoning_content": REASONING,
            "reasoning_details": [{"type": "reasoning.encrypted", "index": 0, "data": "D1"}], "reasoning_opaque": "O1"})),
        delta(json!({"content": answer.text})),
    ];
    for (index, (id, name, arguments)) in answer.calls.iter().enumerate() {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        events
            .push(delta(json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]})));
    }
    let reason = if answer.calls.is_empty() { "stop" } else { "tool_calls" };
    events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}));
    stream(&events)
}

pub fn responses_answer(answer: &Answer) -> Reply {
    let summary = json!([{"type": "summary_text", "text": REASONING}]);
    let mut items = vec![json!({"id": "rs_1", "type": "reasoning", "summary": summary, "encrypted_content": "E1"})];
    items.push(json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": answer.text, "annotations": []}]}));
    for (id, name, arguments) in &answer.calls {
        items.push(json!({"id": format!("fc_{id}"), "type": "function_call", "status": "completed", "call_id": id,
            "name": name, "arguments": arguments.to_string()}));
    }
    let mut events = vec![json!({"type": "response.created", "response": {"object": "response", "error": null}})];
    for (index, item) in items.iter().enumerate() {
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    events.push(json!({"type": "response.completed", "response": {"status": "completed", "error": null}}));
    stream(&events)
}

pub fn anthropic_answer(answer: &Answer) -> Reply {
    let mut blocks = vec![json!({"type": "thinking", "thinking": REASONING, "signature": "S1"})];
    if !answer.text.is_empty() {
        blocks.push(json!({"type": "text", "text": answer.text}));
    }
    for (id, name, input) in &answer.calls {
        blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
    }
    let mut events = vec![json!({"type": "message_start", "message": {"usage": {"input_tokens": 1}}})];
    for (index, block) in blocks.iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let reason = if answer.calls.is_empty() { "end_turn" } else { "tool_use" };
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}}));
    events.push(json!({"type": "message_stop"}));
    sse(&events)
}

pub fn gemini_answer(answer: &Answer) -> Reply {
    let mut parts = vec![json!({"text": REASONING, "thought": true})];
    if !answer.text.is_empty() {
        parts.push(json!({"text": answer.text}));
    }
    for (index, (_, name, args)) in answer.calls.iter().enumerate() {
        let mut part = json!({"functionCall": {"name": name, "args": args}});
        if index == 0 {
            part["thoughtSignature"] = json!("S1");
        }
        parts.push(part);
    }
    sse(&[
        json!({"candidates": [{"content": {"role": "model", "parts": parts}}]}),
        json!({"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}]}),
    ])
}

pub fn ollama_answer(answer: &Answer) -> Reply {
    let calls: Vec<Value> = answer
        .calls
        .iter()
        .map(|(_, name, arguments)| json!({"function": {"name": name, "arguments": arguments}}))
        .collect();
    let lines = [
        json!({"message": {"role": "assistant", "content": "", "thinking": REASONING}, "done": false}),
        json!({"message": {"role": "assistant", "content": answer.text, "tool_calls": calls}, "done": false}),
        json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"}),
    ];
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    text(200, "content-type: application/x-ndjson\r\n", &body)
}

/// The reply with the name that the request offers.
pub fn with_name(reply: Reply, body: &Value) -> Reply {
    let body = body["tools"].to_string();
    let name = body.split('"').find(|word| word.starts_with("list_buffers_"));
    match (reply, name) {
        (Reply::Body { status, headers, pieces }, Some(name)) => {
            let pieces =
                pieces.into_iter().map(|piece| String::from_utf8(piece).unwrap().replace(LIST, name).into_bytes());
            Reply::Body { status, headers, pieces: pieces.collect() }
        }
        (reply, _) => reply,
    }
}

/// Events without the mark that OpenAI ends its streams with.
pub fn sse(events: &[Value]) -> Reply {
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    text(200, "content-type: text/event-stream\r\n", &body)
}
