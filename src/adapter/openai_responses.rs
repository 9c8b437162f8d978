//! The codec of OpenAI's responses: a history becomes a request's body, the events of an answer become items. Reasoning
//! and what the provider ran itself go back as they came.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::{Map, Value, json};

use super::body::{self, put_tools};
use super::item::{EndReason, ProviderCall};
use super::names::{Names, legal_id};
use super::reader::{Answer, Codec, Reader, text_at};
use super::request::{Asked, BuildInput, Built, ToolDefinition};
use super::{fault, fit, known};
use crate::message::{Attachment, Call, Message, Opaque};

/// Builds the body: the settings, then the input, then the tools.
pub fn build(input: BuildInput<'_>) -> Built {
    let names = Names::new(input.tools.iter().map(|tool| tool.name.as_str()));
    let mut faults = Vec::new();
    let mut body = input.settings.clone();
    body.entry("stream").or_insert(Value::Bool(true));
    if let Some(schema) = input.answer
        && let Value::Object(text) = body.entry("text").or_insert(json!({}))
    {
        let format = json!({"type": "json_schema", "name": "answer", "strict": true, "schema": schema});
        text.entry("format").or_insert(format);
    }
    let stores = body.get("store") != Some(&Value::Bool(false));
    let mut own_ids: HashSet<&str> = HashSet::new();
    let mut items = Vec::with_capacity(input.messages.len());
    for message in input.messages {
        match message.as_ref() {
            Message::System { content } => items.push(message_item("system", content)),
            Message::User { content, attachments, .. } => {
                let content = parts(&body::said(content, attachments, &input), body::pictures(message, &input));
                items.push(json!({"type": "message", "role": "user", "content": content}));
            }
            Message::Llm { content, calls, opaque, .. } => {
                own_ids.extend(input.origin.own_ids(opaque.as_ref()));
                // Ids mean something only together with the reasoning that they followed.
                let opaque = input.origin.of_model(opaque.as_ref());
                let kept = opaque.and_then(|opaque| kept(opaque, calls, stores, &names, &own_ids));
                items.extend(kept.unwrap_or_else(|| plain(content, calls, &names, &own_ids)));
            }
            Message::Tool { wire_id, content, .. } => {
                let pictures = body::pictures(message, &input);
                let output = if pictures.is_empty() { json!(content) } else { parts(content, pictures) };
                items.push(
                    json!({"type": "function_call_output", "call_id": id_of(wire_id, &own_ids), "output": output}),
                );
            }
        }
    }
    body.insert("input".to_owned(), Value::Array(items));
    let no_strict = input.dialect.no_strict;
    let describe = |tool: &ToolDefinition, name: &str| function(tool, name, no_strict);
    put_tools(&mut body, &input, &names, &mut faults, describe, |tools| tools);
    Built { body: Value::Object(body), names, faults, prefix: String::new() }
}

fn message_item(role: &str, content: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": content}]})
}

fn parts(content: &str, pictures: &[Attachment]) -> Value {
    let images = pictures
        .iter()
        .map(|picture| json!({"type": "input_image", "detail": "auto", "image_url": body::data_url(picture)}));
    std::iter::once(json!({"type": "input_text", "text": content})).chain(images).collect()
}

fn plain(content: &str, calls: &[Call], names: &Names, own_ids: &HashSet<&str>) -> Vec<Value> {
    // Parts as the provider makes them would need its ids.
    let text = (!content.is_empty()).then(|| json!({"type": "message", "role": "assistant", "content": content}));
    text.into_iter().chain(calls.iter().map(|call| call_item(Map::new(), call, names, own_ids))).collect()
}

/// The items of an answer as they came, the calls in their places. None: some reasoning cannot go back.
fn kept(opaque: &Opaque, calls: &[Call], stores: bool, names: &Names, own_ids: &HashSet<&str>) -> Option<Vec<Value>> {
    let mut used = BTreeSet::new();
    let mut items = Vec::new();
    for item in opaque.data["items"].as_array()? {
        if item["type"] == "reasoning" && !stores && !item["encrypted_content"].is_string() {
            return None;
        }
        match item.get("call").and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok()) {
            Some(number) => {
                let call = calls.get(number).filter(|_| used.insert(number))?;
                let mut fields = item.as_object()?.clone();
                fields.shift_remove("call");
                items.push(call_item(fields, call, names, own_ids));
            }
            None => items.push(item.clone()),
        }
    }
    (used.len() == calls.len()).then_some(items)
}

fn call_item(mut fields: Map<String, Value>, call: &Call, names: &Names, own_ids: &HashSet<&str>) -> Value {
    fields.insert("type".to_owned(), json!("function_call"));
    fields.insert("call_id".to_owned(), json!(id_of(&call.wire_id, own_ids)));
    fields.insert("name".to_owned(), json!(names.wire(&call.name)));
    fields.insert("arguments".to_owned(), json!(body::text(&call.arguments)));
    Value::Object(fields)
}

fn id_of<'a>(id: &'a str, own_ids: &HashSet<&str>) -> Cow<'a, str> {
    if own_ids.contains(id) { Cow::Borrowed(id) } else { legal_id(id) }
}

fn function(tool: &ToolDefinition, name: &str, no_strict: bool) -> Result<Value, String> {
    let parameters = fit::parameters(&tool.parameters)?;
    let strict = if tool.strict == Some(true) && !no_strict { fit::strict(&parameters) } else { None };
    let mut function = Map::new();
    function.insert("type".to_owned(), json!("function"));
    function.insert("name".to_owned(), json!(name));
    if let Some(description) = &tool.description {
        function.insert("description".to_owned(), json!(description));
    }
    // Strict is the default here.
    function.insert("strict".to_owned(), json!(strict.is_some()));
    function.insert("parameters".to_owned(), strict.unwrap_or(parameters));
    Ok(Value::Object(function))
}

/// Reads one answer.
pub type Decoder = Reader<Responses>;

/// A decoder for one answer.
pub fn decoder(asked: Asked) -> Decoder {
    Reader::new(asked)
}

/// The output items of an answer.
#[derive(Debug, Default)]
pub struct Responses {
    /// By their place in the output.
    items: BTreeMap<u64, Output>,
    /// Some part of the reasoning was shown.
    reasoned: bool,
}

#[derive(Debug, Default)]
struct Output {
    fields: Map<String, Value>,
    /// Place among the calls.
    call: Option<usize>,
    /// Text, reasoning or arguments of it were given out.
    given: bool,
    ended: bool,
}

impl Codec for Responses {
    const NAME: &str = "a response";

    fn event(&mut self, mut event: Map<String, Value>, answer: &mut Answer) {
        let number = event.get("output_index").and_then(Value::as_u64).unwrap_or(0);
        match text_at(&event, "type") {
            "response.created" | "response.in_progress" | "response.queued" => answer.begin(),
            "response.output_item.added" => {
                if let Some(Value::Object(item)) = event.remove("item") {
                    self.start(number, item, answer);
                }
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                self.items.entry(number).or_default().given = true;
                answer.text(text_at(&event, "delta"));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.reasoned = true;
                self.items.entry(number).or_default().given = true;
                answer.reasoning(text_at(&event, "delta"));
            }
            // The parts of a summary are paragraphs.
            "response.reasoning_summary_part.added" if self.reasoned => answer.reasoning("\n\n"),
            "response.function_call_arguments.delta" => {
                let item = self.items.entry(number).or_default();
                if let Some(call) = item.call {
                    item.given = true;
                    answer.arguments(call, text_at(&event, "delta"));
                }
            }
            "response.output_item.done" => {
                if let Some(Value::Object(item)) = event.remove("item") {
                    self.stop(number, item, answer);
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.done" => {
                if let Some(Value::Object(response)) = event.remove("response") {
                    self.response(response, answer);
                }
                answer.close();
            }
            // No stream: the whole response at once.
            _ if text_at(&event, "object") == "response" => self.response(event, answer),
            _ => {}
        }
    }

    fn finish(&mut self, _: &mut Answer) -> Option<Value> {
        let items: Vec<Map<String, Value>> =
            std::mem::take(&mut self.items).into_values().filter(|item| item.ended).map(|item| item.fields).collect();
        let says = |item: &Map<String, Value>| text_at(item, "type") != "reasoning";
        items.iter().any(says).then(|| json!({"items": items}))
    }
}

impl Responses {
    fn start(&mut self, number: u64, fields: Map<String, Value>, answer: &mut Answer) {
        answer.begin();
        let item = self.items.entry(number).or_default();
        if text_at(&fields, "type") == "function_call" && item.call.is_none() {
            item.call = Some(answer.call(text_at(&fields, "call_id"), text_at(&fields, "name")));
        }
    }

    fn stop(&mut self, number: u64, mut fields: Map<String, Value>, answer: &mut Answer) {
        self.start(number, fields.clone(), answer);
        let item = self.items.entry(number).or_default();
        if std::mem::replace(&mut item.ended, true) {
            return;
        }
        let was_given = std::mem::replace(&mut item.given, true);
        match text_at(&fields, "type") {
            "function_call" => {
                if let Some(call) = item.call {
                    if !was_given {
                        answer.arguments(call, text_at(&fields, "arguments"));
                    }
                    ["call_id", "name", "arguments"].iter().for_each(|field| drop(fields.shift_remove(*field)));
                    fields.insert("call".to_owned(), json!(call));
                }
            }
            "message" if !was_given => texts(fields.get("content")).for_each(|text| answer.text(text)),
            "reasoning" if !was_given => {
                let shown = texts(fields.get("summary")).chain(texts(fields.get("content")));
                let shown = shown.collect::<Vec<_>>().join("\n\n");
                self.reasoned |= !shown.is_empty();
                answer.reasoning(shown);
            }
            "message" | "reasoning" => {}
            kind if kind.ends_with("_call") => answer.ran(ran_call(kind, &fields)),
            _ => {}
        }
        // A null is what the provider says where it has nothing, and does not always take back.
        fields.retain(|_, value| !value.is_null());
        item.fields = fields;
    }

    fn response(&mut self, mut response: Map<String, Value>, answer: &mut Answer) {
        answer.begin();
        if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
            return answer.fail_with(error);
        }
        let output = response.remove("output");
        for (number, item) in (0..).zip(output.as_ref().and_then(Value::as_array).into_iter().flatten()) {
            if let Value::Object(item) = item {
                self.stop(number, item.clone(), answer);
            }
        }
        if let Some(usage) = response.get("usage") {
            let count = |field: &str| usage.get(field).and_then(Value::as_u64);
            answer.usage(count("input_tokens"), count("output_tokens"));
        }
        let reason = response.get("incomplete_details").and_then(|details| details.get("reason"));
        match (text_at(&response, "status"), reason.and_then(Value::as_str)) {
            (_, Some(word)) => answer.stop_for(&[known::OPENAI_INCOMPLETE_REASONS], word, ""),
            ("", None) => answer.stop(EndReason::Stop),
            (word, None) => answer.stop_for(&[known::OPENAI_RESPONSE_STATUSES], word, ""),
        }
    }
}

/// The texts of parts: `output_text`, `refusal`, `summary_text`, `reasoning_text`.
fn texts(parts: Option<&Value>) -> impl Iterator<Item = &str> {
    let parts = parts.and_then(Value::as_array).into_iter().flatten();
    parts.filter_map(|part| part.get("text").or_else(|| part.get("refusal"))?.as_str())
}

/// A call that the provider ran, such as a `web_search_call`.
fn ran_call(kind: &str, fields: &Map<String, Value>) -> ProviderCall {
    let action = fields.get("action").and_then(Value::as_object).unwrap_or(fields);
    let told = ["query", "url", "pattern", "code", "command", "name"];
    let told = told.iter().map(|field| text_at(action, field)).find(|text| !text.is_empty());
    let queries = || action.get("queries").and_then(Value::as_array)?.first()?.as_str();
    let label = told.or_else(queries).unwrap_or_default();
    let sources = action.get("sources").and_then(Value::as_array).into_iter().flatten();
    let sources: Vec<&str> = sources.filter_map(|source| source.get("url")?.as_str()).collect();
    ProviderCall {
        name: kind.trim_end_matches("_call").to_owned(),
        label: fault::one_line(label),
        output: sources.join("\n"),
        is_error: text_at(fields, "status") == "failed",
    }
}

#[cfg(test)]
mod tests;
