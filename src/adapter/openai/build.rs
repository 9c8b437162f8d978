//! A history becomes the body of a request.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::calls;
use crate::adapter::body::{self, FILLER, put_tools};
use crate::adapter::fit;
use crate::adapter::names::{Names, hashed_id, is_plain_id};
use crate::adapter::request::{BuildInput, Built, Dialect, ToolDefinition};
use crate::message::{Attachment, Call, Message};

/// Builds the body: the settings, then the messages, then the tools.
pub fn build(input: BuildInput<'_>) -> Built {
    let names = Names::new(input.tools.iter().map(|tool| tool.name.as_str()));
    let mut faults = Vec::new();
    let mut body = input.settings.clone();
    let streams = body.entry("stream").or_insert(Value::Bool(true)) == &Value::Bool(true);
    match body.get("stream_options") {
        None if streams => drop(body.insert("stream_options".to_owned(), json!({"include_usage": true}))),
        Some(Value::Null | Value::Bool(false)) => drop(body.shift_remove("stream_options")),
        None | Some(_) => {}
    }
    if let Some(schema) = input.answer.filter(|_| !input.dialect.no_answer_schema) {
        let format = json!({"name": "answer", "strict": true, "schema": schema});
        body.entry("response_format").or_insert(json!({"type": "json_schema", "json_schema": format}));
    }
    let mut messages = Vec::with_capacity(input.messages.len());
    let mut after_result = false;
    let mut own_ids: HashSet<&str> = HashSet::new();
    let calls = |message: &Arc<Message>| matches!(message.as_ref(), Message::Llm { calls, .. } if !calls.is_empty());
    let has_tools = input.tools_override.is_some()
        || !(input.tools.is_empty() && input.extra_tools.is_empty())
        || input.messages.iter().any(calls);
    // A result holds only text: its pictures follow the last result of the batch.
    let mut pictures: Vec<Value> = Vec::new();
    for message in input.messages {
        let message = message.as_ref();
        if !pictures.is_empty() && !matches!(message, Message::Tool { .. }) {
            put_pictures(&mut messages, &mut pictures, input.dialect);
            after_result = false;
        }
        if let Message::Tool { wire_id, .. } = message {
            let id = id_of(wire_id, &own_ids, input.dialect);
            put_aside(&mut pictures, &id, body::pictures(message, &input));
        }
        if input.dialect.answer_between && after_result && matches!(message, Message::User { .. }) {
            messages.push(json!({"role": "assistant", "content": FILLER}));
        }
        after_result = matches!(message, Message::Tool { .. });
        if let Message::Llm { opaque, .. } = message {
            own_ids.extend(input.origin.own_ids(opaque.as_ref()));
        }
        messages.push(message_of(message, &input, &names, &own_ids, has_tools));
    }
    if !pictures.is_empty() {
        put_pictures(&mut messages, &mut pictures, input.dialect);
    }
    body.insert("messages".to_owned(), Value::Array(messages));
    let no_strict = input.dialect.no_strict;
    let describe = |tool: &ToolDefinition, name: &str| function(tool, name, no_strict);
    put_tools(&mut body, &input, &names, &mut faults, describe, |tools| tools);
    Built { body: Value::Object(body), names, faults, prefix: String::new() }
}

fn put_aside(pictures: &mut Vec<Value>, id: &str, more: &[Attachment]) {
    if !more.is_empty() {
        let text = format!("From the result of the call {id}:");
        pictures.push(json!({"type": "text", "text": text}));
        let url = |picture| json!({"type": "image_url", "image_url": {"url": body::data_url(picture)}});
        pictures.extend(more.iter().map(url));
    }
}

fn put_pictures(messages: &mut Vec<Value>, pictures: &mut Vec<Value>, dialect: &Dialect) {
    if dialect.answer_between {
        messages.push(json!({"role": "assistant", "content": FILLER}));
    }
    messages.push(json!({"role": "user", "content": std::mem::take(pictures)}));
}

/// `own_ids`: those that the provider made; `has_tools`: calls are possible, or were.
fn message_of(
    message: &Message,
    input: &BuildInput<'_>,
    names: &Names,
    own_ids: &HashSet<&str>,
    has_tools: bool,
) -> Value {
    match message {
        Message::System { content } => json!({"role": "system", "content": content}),
        Message::User { content, attachments, .. } => {
            let (said, pictures) = (body::said(content, attachments, input), body::pictures(message, input));
            if pictures.is_empty() {
                return json!({"role": "user", "content": said});
            }
            let text = (!said.trim().is_empty()).then(|| json!({"type": "text", "text": said}));
            let url = |picture| json!({"type": "image_url", "image_url": {"url": body::data_url(picture)}});
            let parts: Vec<Value> = text.into_iter().chain(pictures.iter().map(url)).collect();
            json!({"role": "user", "content": parts})
        }
        Message::Llm { content, reasoning, calls, opaque } => {
            let parts =
                input.origin.of_model(opaque.as_ref()).and_then(|opaque| opaque.data.get("content")?.as_array());
            let opaque = input.origin.of_adapter(opaque.as_ref());
            let mut object = Map::new();
            object.insert("role".to_owned(), json!("assistant"));
            let content = match parts.filter(|_| input.dialect.thinking_parts) {
                Some(parts) => json!(parts),
                None if content.is_empty() && !calls.is_empty() => Value::Null,
                None => json!(content),
            };
            object.insert("content".to_owned(), content);
            for (field, value) in opaque.and_then(|opaque| opaque.data.as_object()).into_iter().flatten() {
                if calls::MESSAGE_EXTRA.contains(&field.as_str()) || input.dialect.keep.contains(field) {
                    object.insert(field.clone(), value.clone());
                }
            }
            if let Some(field) = input.dialect.reasoning_back.as_ref().filter(|_| has_tools) {
                let own = if opaque.is_some() { reasoning.as_str() } else { "" };
                object.insert(field.clone(), json!(own));
            }
            if !calls.is_empty() {
                let calls = calls
                    .iter()
                    .map(|call| call_of(call, &id_of(&call.wire_id, own_ids, input.dialect), opaque.is_some(), names));
                object.insert("tool_calls".to_owned(), calls.collect());
            }
            Value::Object(object)
        }
        Message::Tool { wire_id, content, .. } => {
            json!({"role": "tool", "tool_call_id": id_of(wire_id, own_ids, input.dialect), "content": content})
        }
    }
}

/// Only what the API knows (R055), and what the provider itself sent along with the call.
pub(super) fn call_of(call: &Call, id: &str, is_own: bool, names: &Names) -> Value {
    let extra = call.extra.as_ref().filter(|_| is_own);
    let known = |fields: Option<&Value>| -> Map<String, Value> {
        let fields = fields.and_then(Value::as_object).into_iter().flatten();
        let fields = fields.filter(|(field, _)| calls::EXTRA.contains(&field.as_str()));
        fields.map(|(field, value)| (field.clone(), value.clone())).collect()
    };
    let mut function = Map::new();
    function.insert("name".to_owned(), json!(names.wire(&call.name)));
    function.insert("arguments".to_owned(), json!(body::text(&call.arguments)));
    function.extend(known(extra.and_then(|extra| extra.get("function"))));
    let mut object = Map::new();
    object.insert("id".to_owned(), json!(id));
    object.insert("type".to_owned(), json!("function"));
    object.insert("function".to_owned(), Value::Object(function));
    object.extend(known(extra));
    Value::Object(object)
}

/// An id that the server takes: of the one form that it demands, one that it made itself, or one of up to 40 letters.
fn id_of<'a>(id: &'a str, own_ids: &HashSet<&str>, dialect: &Dialect) -> Cow<'a, str> {
    const LENGTH: usize = 40;
    let fits = |length: usize| id.len() == length && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match dialect.call_id_length {
        Some(length) if !fits(length) => Cow::Owned(hashed_id(id, length)),
        None if !own_ids.contains(id) && !is_plain_id(id) => Cow::Owned(hashed_id(id, LENGTH)),
        Some(_) | None => Cow::Borrowed(id),
    }
}

fn function(tool: &ToolDefinition, name: &str, no_strict: bool) -> Result<Value, String> {
    let parameters = fit::parameters(&tool.parameters)?;
    let mut function = Map::new();
    function.insert("name".to_owned(), json!(name));
    if let Some(description) = &tool.description {
        function.insert("description".to_owned(), json!(description));
    }
    let strict = if tool.strict == Some(true) && !no_strict { fit::strict(&parameters) } else { None };
    let is_strict = strict.is_some();
    function.insert("parameters".to_owned(), strict.unwrap_or(parameters));
    // Non-strict is the default, and servers that do not know the word need not meet it.
    if is_strict {
        function.insert("strict".to_owned(), Value::Bool(true));
    }
    Ok(json!({"type": "function", "function": function}))
}
