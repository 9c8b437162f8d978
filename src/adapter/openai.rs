//! The codec of OpenAI's chat completions and of the many servers that speak them more or less: a history becomes a
//! request's body, the bytes of an answer become items.

mod calls;

use std::collections::HashSet;
use std::sync::Arc;

use calls::{Calls, Piece};
use serde_json::{Deserializer, Map, Value, json};

use super::sse::{Body, Frame};
use super::{BuildInput, Built, EndReason, Item, Names, ToolDefinition, error_text, fault, fit};
use crate::message::{Call, Message};

/// Where servers put the model's reasoning. Some send it under two names at once: the first counts.
const REASONING: &[&str] = &["reasoning_content", "reasoning", "reasoning_text", "thinking"];

const EMPTY: &str = "The server sent an empty answer.";

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
    if let Some(schema) = input.answer {
        let format = json!({"name": "answer", "strict": true, "schema": schema});
        body.entry("response_format").or_insert(json!({"type": "json_schema", "json_schema": format}));
    }
    let messages = messages_of(input.messages, &names, input.vision);
    body.insert("messages".to_owned(), Value::Array(messages));
    match input.tools_override {
        Some(Value::Object(fields)) => {
            for (field, value) in fields {
                body.insert(field.clone(), value.clone());
            }
        }
        Some(tools) => drop(body.insert("tools".to_owned(), tools.clone())),
        None => {
            let mut tools = tools_of(input.tools, &names, &mut faults);
            tools.extend(input.extra_tools.iter().cloned());
            if !tools.is_empty() {
                body.insert("tools".to_owned(), Value::Array(tools));
            }
        }
    }
    // The provider refuses a list of no tools, and the empty Lua table may be an object.
    let has_none = match body.get("tools") {
        Some(Value::Array(tools)) => tools.is_empty(),
        Some(Value::Object(tools)) => tools.is_empty(),
        tools => matches!(tools, Some(Value::Null)),
    };
    if has_none {
        body.shift_remove("tools");
    }
    Built { body: Value::Object(body), names, faults }
}

/// The messages; pictures of results follow the last result of their batch, since a tool's message holds only text.
fn messages_of(messages: &[Arc<Message>], names: &Names, vision: bool) -> Vec<Value> {
    let mut list = Vec::with_capacity(messages.len());
    let mut pictures: Vec<Value> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        list.push(message_of(message, names));
        if let Message::Tool { wire_id, attachments, .. } = message.as_ref()
            && vision
            && !attachments.is_empty()
        {
            pictures.push(json!({"type": "text", "text": format!("From the result of the call {wire_id}:")}));
            pictures.extend(attachments.iter().map(|picture| {
                let url = format!("data:{};base64,{}", picture.mime, picture.data);
                json!({"type": "image_url", "image_url": {"url": url}})
            }));
        }
        let is_last = !matches!(messages.get(at + 1).map(AsRef::as_ref), Some(Message::Tool { .. }));
        if is_last && !pictures.is_empty() {
            list.push(json!({"role": "user", "content": std::mem::take(&mut pictures)}));
        }
    }
    list
}

fn message_of(message: &Arc<Message>, names: &Names) -> Value {
    match message.as_ref() {
        Message::System { content } => json!({"role": "system", "content": content}),
        Message::User { content, .. } => json!({"role": "user", "content": content}),
        Message::Llm { content, calls, .. } if calls.is_empty() => json!({"role": "assistant", "content": content}),
        Message::Llm { content, calls, .. } => {
            let content = if content.is_empty() { Value::Null } else { json!(content) };
            let calls: Vec<Value> = calls.iter().map(|call| call_of(call, names)).collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Message::Tool { wire_id, content, .. } => json!({"role": "tool", "tool_call_id": wire_id, "content": content}),
    }
}

/// Only what the API knows (R055), and what the provider itself sent along with the call.
fn call_of(call: &Call, names: &Names) -> Value {
    let arguments = if call.arguments.trim().is_empty() { "{}" } else { call.arguments.as_str() };
    let mut object = Map::new();
    object.insert("id".to_owned(), json!(call.wire_id));
    object.insert("type".to_owned(), json!("function"));
    object.insert("function".to_owned(), json!({"name": names.wire(&call.name), "arguments": arguments}));
    for (field, value) in call.extra.iter().filter_map(Value::as_object).flatten() {
        if calls::EXTRA.contains(&field.as_str()) {
            object.insert(field.clone(), value.clone());
        }
    }
    Value::Object(object)
}

fn tools_of(tools: &[ToolDefinition], names: &Names, faults: &mut Vec<String>) -> Vec<Value> {
    let mut offered = HashSet::new();
    let mut list = Vec::with_capacity(tools.len());
    for tool in tools {
        let parameters = if offered.insert(&tool.name) {
            fit::parameters(&tool.parameters)
        } else {
            Err("another tool has the same name".to_owned())
        };
        match parameters {
            Ok(parameters) => list.push(function(tool, &names.wire(&tool.name), parameters)),
            Err(reason) => faults.push(format!("The tool \"{}\" is not offered: {reason}.", tool.name)),
        }
    }
    list
}

fn function(tool: &ToolDefinition, name: &str, parameters: Value) -> Value {
    let mut function = Map::new();
    function.insert("name".to_owned(), json!(name));
    if let Some(description) = &tool.description {
        function.insert("description".to_owned(), json!(description));
    }
    let strict = if tool.strict == Some(true) { fit::strict(&parameters) } else { None };
    let is_strict = strict.is_some();
    function.insert("parameters".to_owned(), strict.unwrap_or(parameters));
    // Non-strict is the default, and servers that do not know the word need not meet it.
    if is_strict {
        function.insert("strict".to_owned(), Value::Bool(true));
    }
    json!({"type": "function", "function": function})
}

/// Reads one answer.
#[derive(Debug)]
pub struct Decoder {
    names: Names,
    streaming: bool,
    body: Body,
    calls: Calls,
    /// Something that belongs to an answer has arrived.
    seen: bool,
    /// Text has arrived; a whole message that follows only repeats it.
    said: bool,
    usage: Option<(u64, u64)>,
    reason: Option<EndReason>,
    over: bool,
}

impl Decoder {
    /// As [`super::Decoder::new`].
    pub fn new(names: Names, streaming: bool) -> Self {
        Self {
            names,
            streaming,
            body: Body::default(),
            calls: Calls::default(),
            seen: false,
            said: false,
            usage: None,
            reason: None,
            over: false,
        }
    }

    /// As [`super::Decoder::push`].
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Item> {
        let mut items = Vec::new();
        if !self.over {
            let frames = self.body.push(bytes);
            self.take(frames, &mut items);
        }
        items
    }

    /// As [`super::Decoder::finish`].
    pub fn finish(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        if !self.over {
            let frames = self.body.finish();
            self.take(frames, &mut items);
            if !self.over && !self.seen {
                self.fail(self.no_answer(), &mut items);
            }
            self.end(&mut items);
        }
        items
    }

    /// As [`super::Decoder::is_whole`].
    pub fn is_whole(&self) -> bool {
        self.reason.is_some()
    }

    /// As [`super::Decoder::is_over`].
    pub fn is_over(&self) -> bool {
        self.over
    }

    fn take(&mut self, frames: Vec<Frame>, items: &mut Vec<Item>) {
        for frame in frames {
            if self.over {
                return;
            }
            match frame {
                Frame::Event(data) => self.event(&data, items),
                Frame::Whole(document) => self.document(&document, items),
                Frame::TooLong => self.fail("The server sent a single event of more than 64 MiB.".to_owned(), items),
            }
        }
    }

    /// One event holds one chunk; servers that forget the blank line between two put several in one.
    fn event(&mut self, data: &[u8], items: &mut Vec<Item>) {
        let text = String::from_utf8_lossy(data);
        let mut rest = self.chunks(&text, items);
        if let Some(mended) = without_half_pairs(rest) {
            rest = if self.chunks(&mended, items).is_empty() { "" } else { rest };
        }
        if self.over || rest.is_empty() {
            return;
        }
        match rest {
            "[DONE]" => self.end(items),
            rest => self.fail(format!("The server sent an event that is not JSON: {}", fault::one_line(rest)), items),
        }
    }

    /// Takes the JSON at the start of a text in, and returns what follows it.
    fn chunks<'a>(&mut self, text: &'a str, items: &mut Vec<Item>) -> &'a str {
        let mut values = Deserializer::from_str(text).into_iter::<Value>();
        while let Some(Ok(value)) = values.next() {
            self.chunk(value, items);
            if self.over {
                return "";
            }
        }
        text[values.byte_offset()..].trim()
    }

    /// The server answers with one document, asked for a stream or not.
    fn document(&mut self, document: &[u8], items: &mut Vec<Item>) {
        if let Ok(value) = serde_json::from_slice(document) {
            self.chunk(value, items);
        }
        if !self.over && !self.seen {
            let said = match error_text(200, document, None) {
                said if said.is_empty() => fault::one_line(&String::from_utf8_lossy(document)),
                said => said,
            };
            self.fail(format!("The server's answer is not a chat completion: {said}"), items);
        }
    }

    fn chunk(&mut self, value: Value, items: &mut Vec<Item>) {
        let mut chunk = match value {
            Value::Object(chunk) => chunk,
            // Some gateways put their error in a list.
            Value::Array(mut list) if list.len() == 1 => return self.chunk(list.remove(0), items),
            _ => return,
        };
        if let Some(error) = error_in(&chunk) {
            return self.fail(error, items);
        }
        if let Some(Value::Array(choices)) = chunk.remove("choices") {
            self.seen = true;
            // Other choices (`n` above 1) are other answers to the same question.
            let first = |choice: &Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
            for choice in choices.into_iter().filter(first) {
                if let Value::Object(choice) = choice {
                    self.choice(choice, items);
                }
                if self.over {
                    return;
                }
            }
        }
        let usage = match chunk.remove("usage") {
            Some(usage @ Value::Object(_)) => Some(usage),
            _ => chunk.remove("x_groq").and_then(|mut own| own.get_mut("usage").map(Value::take)),
        };
        if let Some(usage) = usage.as_ref().and_then(usage_of) {
            self.seen = true;
            if self.usage.replace(usage) != Some(usage) {
                items.push(Item::Usage { input: usage.0, output: usage.1 });
            }
        }
    }

    fn choice(&mut self, mut choice: Map<String, Value>, items: &mut Vec<Item>) {
        if let Some(error) = error_in(&choice) {
            return self.fail(error, items);
        }
        match (choice.remove("delta"), choice.remove("message")) {
            (Some(Value::Object(delta)), _) => self.delta(delta, items),
            (_, Some(Value::Object(message))) if !self.said && self.calls.is_empty() => self.delta(message, items),
            _ => {}
        }
        if let Some(Value::String(word)) = choice.get("finish_reason") {
            self.reason = match word.as_str() {
                "" => self.reason.take(),
                "stop" => Some(EndReason::Stop),
                "tool_calls" | "function_call" => Some(EndReason::ToolCalls),
                "length" | "max_tokens" | "model_length" => Some(EndReason::Length),
                "content_filter" => Some(EndReason::ContentFilter),
                other => Some(EndReason::Other(other.to_owned())),
            };
        }
    }

    fn delta(&mut self, mut delta: Map<String, Value>, items: &mut Vec<Item>) {
        let before = items.len();
        let reasoning = REASONING.iter().find_map(|field| match delta.remove(*field) {
            Some(Value::String(text)) if !text.is_empty() => Some(text),
            _ => None,
        });
        items.extend(reasoning.map(Item::Reasoning));
        if let Some(content) = delta.remove("content") {
            content_items(content, items);
        }
        if let Some(Value::String(refusal)) = delta.remove("refusal")
            && !refusal.is_empty()
        {
            items.push(Item::Text(refusal));
        }
        self.said |= items[before..].iter().any(|item| matches!(item, Item::Text(_)));
        let mut pieces = Vec::new();
        match delta.remove("tool_calls") {
            Some(Value::Array(calls)) => pieces.extend(calls.into_iter().filter_map(Piece::of_call)),
            Some(call @ Value::Object(_)) => pieces.extend(Piece::of_call(call)),
            _ => {}
        }
        // The form before there were several calls.
        pieces.extend(delta.remove("function_call").and_then(Piece::of_function));
        for piece in pieces {
            if !self.calls.take(piece, &self.names, items) {
                let text = "The server sent a piece of a tool call without saying of which one. Nothing was run.";
                return self.fail(text.to_owned(), items);
            }
        }
    }

    fn end(&mut self, items: &mut Vec<Item>) {
        if self.over {
            return;
        }
        if !self.seen {
            return self.fail(EMPTY.to_owned(), items);
        }
        self.calls.finish(&self.names, items);
        let implied = if self.calls.is_empty() { EndReason::Stop } else { EndReason::ToolCalls };
        items.push(Item::End { reason: self.reason.take().unwrap_or(implied) });
        self.over = true;
    }

    /// What arrived instead of an answer.
    fn no_answer(&self) -> String {
        let start = fault::one_line(&String::from_utf8_lossy(self.body.start()));
        let wanted = if self.streaming { "a stream of events" } else { "JSON" };
        if start.is_empty() { EMPTY.to_owned() } else { format!("The server's answer is not {wanted}: {start}") }
    }

    fn fail(&mut self, text: String, items: &mut Vec<Item>) {
        items.push(Item::Failed(text));
        self.over = true;
    }
}

/// The text with a replacement character for each half of a surrogate pair that stands alone; none when there is no such
/// half. Servers that cut text by UTF-16 units send the halves in two chunks.
fn without_half_pairs(text: &str) -> Option<String> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut mended = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        at += found;
        let Some(first) = unit(at) else {
            at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8);
            continue;
        };
        let is_pair = matches!(first, 0xd800..=0xdbff) && matches!(unit(at + 6), Some(0xdc00..=0xdfff));
        if !is_pair && matches!(first, 0xd800..=0xdfff) {
            mended.push_str(&text[copied..at]);
            mended.push(char::REPLACEMENT_CHARACTER);
            copied = at + 6;
        }
        at += if is_pair { 12 } else { 6 };
    }
    (copied > 0).then(|| mended + &text[copied..])
}

/// The error in a chunk or a choice, in the words for the user.
fn error_in(object: &Map<String, Value>) -> Option<String> {
    let error = match object.get("error") {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(Value::String(text)) if text.is_empty() => None,
        Some(Value::Object(fields)) if fields.is_empty() => None,
        Some(error) => Some(error.clone()),
    };
    let is_error = |field: &str| object.get(field).and_then(Value::as_str) == Some("error");
    let error = error.or_else(|| (is_error("object") || is_error("type")).then(|| Value::Object(object.clone())))?;
    let text = fault::message_in(&error).unwrap_or_else(|| format!("The server reports an error: {error}"));
    Some(fault::one_line(&text))
}

/// Text, or a list of parts.
fn content_items(content: Value, items: &mut Vec<Item>) {
    match content {
        Value::String(text) if !text.is_empty() => items.push(Item::Text(text)),
        Value::Array(parts) => parts.into_iter().for_each(|part| part_items(part, items)),
        _ => {}
    }
}

fn part_items(part: Value, items: &mut Vec<Item>) {
    let Value::Object(mut part) = part else { return content_items(part, items) };
    if let Some(thinking) = part.remove("thinking") {
        let mut inner = Vec::new();
        content_items(thinking, &mut inner);
        items.extend(inner.into_iter().filter_map(|item| match item {
            Item::Text(text) => Some(Item::Reasoning(text)),
            _ => None,
        }));
    }
    for field in ["text", "refusal"] {
        if let Some(Value::String(text)) = part.remove(field)
            && !text.is_empty()
        {
            items.push(Item::Text(text));
        }
    }
}

fn usage_of(usage: &Value) -> Option<(u64, u64)> {
    let count = |names: [&str; 2]| names.iter().find_map(|name| usage.get(*name).and_then(Value::as_u64));
    let (input, output) = (count(["prompt_tokens", "input_tokens"]), count(["completion_tokens", "output_tokens"]));
    (input.is_some() || output.is_some()).then(|| (input.unwrap_or(0), output.unwrap_or(0)))
}

#[cfg(test)]
mod tests;
