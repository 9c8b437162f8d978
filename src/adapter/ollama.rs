//! The codec of Ollama's own chat: a history becomes a request's body, the lines of an answer become items.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::body::{self, put_tools};
use super::item::EndReason;
use super::names::Names;
use super::reader::{Answer, Codec, Reader, arguments_text, take_text, text_at};
use super::request::{Asked, BuildInput, Built, ToolDefinition};
use super::{fit, known, raw};
use crate::message::{Call, Message};

/// Builds the body: the settings, then the messages, then the tools.
pub fn build(input: BuildInput<'_>) -> Built {
    let names = Names::new(input.tools.iter().map(|tool| tool.name.as_str()));
    let mut faults = Vec::new();
    let mut body = input.settings.clone();
    body.entry("stream").or_insert(Value::Bool(true));
    if let Some(schema) = input.answer {
        body.entry("format").or_insert_with(|| schema.clone());
    }
    // A result says the name of its tool.
    let mut called: HashMap<&str, &str> = HashMap::new();
    let mut messages = Vec::with_capacity(input.messages.len());
    for message in input.messages {
        messages.push(match message.as_ref() {
            Message::System { content } => json!({"role": "system", "content": content}),
            Message::User { content, attachments, .. } => {
                let mut said = json!({"role": "user", "content": body::said(content, attachments, &input)});
                let pictures = body::pictures(message, &input);
                if !pictures.is_empty() {
                    said["images"] = pictures.iter().map(|picture| json!(picture.data)).collect();
                }
                said
            }
            Message::Llm { content, reasoning, calls, opaque } => {
                called.extend(calls.iter().map(|call| (call.wire_id.as_str(), call.name.as_str())));
                let mut object = Map::new();
                object.insert("role".to_owned(), json!("assistant"));
                object.insert("content".to_owned(), json!(content));
                if !calls.is_empty() {
                    // Only what led to calls is of use to the model.
                    if !reasoning.is_empty() && input.origin.of_model(opaque.as_ref()).is_some() {
                        object.insert("thinking".to_owned(), json!(reasoning));
                    }
                    let calls: Vec<Value> = calls.iter().map(|call| call_of(call, &names)).collect();
                    object.insert("tool_calls".to_owned(), Value::Array(calls));
                }
                Value::Object(object)
            }
            Message::Tool { wire_id, content, .. } => {
                let name = names.wire(called.get(wire_id.as_str()).copied().unwrap_or_default());
                let mut result =
                    json!({"role": "tool", "content": content, "tool_name": name, "tool_call_id": wire_id});
                let pictures = body::pictures(message, &input);
                if !pictures.is_empty() {
                    result["images"] = pictures.iter().map(|picture| json!(picture.data)).collect();
                }
                result
            }
        });
    }
    body.insert("messages".to_owned(), Value::Array(messages));
    put_tools(&mut body, &input, &names, &mut faults, describe, |tools| tools);
    Built { body: Value::Object(body), names, faults, prefix: String::new() }
}

fn call_of(call: &Call, names: &Names) -> Value {
    let function = json!({"name": names.wire(&call.name), "arguments": raw::object(&call.arguments)});
    json!({"id": call.wire_id, "function": function})
}

fn describe(tool: &ToolDefinition, name: &str) -> Result<Value, String> {
    let mut parameters = fit::parameters(&tool.parameters)?;
    loosen(&mut parameters, true);
    let mut function = Map::new();
    function.insert("name".to_owned(), json!(name));
    function.insert("description".to_owned(), json!(tool.description.as_deref().unwrap_or_default()));
    function.insert("parameters".to_owned(), parameters);
    Ok(json!({"type": "function", "function": function}))
}

/// The server reads the outer levels of a schema into fixed types, and refuses the request when one does not fit.
fn loosen(schema: &mut Value, is_top: bool) {
    if !schema.is_object() {
        *schema = json!({});
    }
    let Some(words) = schema.as_object_mut() else { return };
    if is_top {
        words.insert("type".to_owned(), json!("object"));
    }
    words.retain(|word, value| match word.as_str() {
        "type" => value.is_string() || value.as_array().is_some_and(|types| types.iter().all(Value::is_string)),
        "description" => value.is_string(),
        "enum" => value.is_array(),
        "required" => value.as_array().is_some_and(|names| names.iter().all(Value::is_string)),
        "properties" => value.is_object(),
        "anyOf" => value.as_array().is_some_and(|branches| !branches.is_empty()),
        _ => true,
    });
    if let Some(Value::Object(properties)) = words.get_mut("properties") {
        properties.values_mut().for_each(|property| loosen(property, false));
    }
    if let Some(Value::Array(branches)) = words.get_mut("anyOf") {
        branches.iter_mut().for_each(|branch| loosen(branch, false));
    }
}

/// Reads one answer.
pub type Decoder = Reader<Chat>;

/// A decoder for one answer.
pub fn decoder(asked: Asked) -> Decoder {
    Reader::new(asked)
}

/// What is known of an answer.
#[derive(Debug, Default)]
pub struct Chat {
    thought: bool,
}

impl Codec for Chat {
    const NAME: &str = "a chat message";
    const LINES: bool = true;

    fn event(&mut self, mut event: Map<String, Value>, answer: &mut Answer) {
        if let Some(Value::Object(mut message)) = event.remove("message") {
            answer.begin();
            if let Some(thinking) = take_text(&mut message, "thinking") {
                self.thought |= !thinking.is_empty();
                answer.reasoning(thinking);
            }
            answer.text(take_text(&mut message, "content").unwrap_or_default());
            for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                let Some(function) = call.get("function").and_then(Value::as_object) else { continue };
                let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
                let index = answer.call(id, text_at(function, "name"));
                answer.arguments(index, arguments_text(function.get("arguments")));
            }
        }
        let count = |field: &str| event.get(field).and_then(Value::as_u64);
        answer.usage(count("prompt_eval_count"), count("eval_count"));
        if event.get("done") == Some(&Value::Bool(true)) {
            answer.begin();
            match text_at(&event, "done_reason") {
                "" => answer.stop(EndReason::Stop),
                word => answer.stop_for(&[known::OLLAMA_DONE_REASONS], word, ""),
            }
            answer.close();
        }
    }

    fn finish(&mut self, _: &mut Answer) -> Option<Value> {
        self.thought.then_some(Value::Null)
    }
}

#[cfg(test)]
mod tests;
