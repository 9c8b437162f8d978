//! The codec of OpenAI's chat completions and of the many servers that speak them more or less: a history becomes a
//! request's body, the bytes of an answer become items.

mod build;
mod calls;

pub use build::build;
use calls::{Calls, Piece};
use serde_json::{Deserializer, Map, Value};

use super::reader::{error_in, without_half_pairs};
use super::sse::{Body, Frame};
use super::{Asked, EndReason, Item, error_text, fault};

/// Where servers put the model's reasoning. Some send it under two names at once: the first counts.
const REASONING: &[&str] = &["reasoning_content", "reasoning", "reasoning_text", "thinking"];

const EMPTY: &str = "The server sent an empty answer.";

/// Reads one answer.
#[derive(Debug)]
pub struct Decoder {
    asked: Asked,
    body: Body,
    /// What must come back, by its field.
    kept: Map<String, Value>,
    calls: Calls,
    /// Something that belongs to an answer has arrived.
    seen: bool,
    /// Text has arrived; a whole message that follows only repeats it.
    said: bool,
    usage: Option<(u64, u64)>,
    reason: Option<EndReason>,
    /// Reasoning has arrived.
    reasoned: bool,
    over: bool,
}

impl Decoder {
    /// As [`super::Decoder::new`].
    pub fn new(asked: Asked) -> Self {
        Self {
            asked,
            body: Body::default(),
            kept: Map::new(),
            calls: Calls::default(),
            seen: false,
            said: false,
            usage: None,
            reason: None,
            reasoned: false,
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
        for field in &self.asked.dialect.keep {
            if let Some(value) = delta.get(field) {
                keep(&mut self.kept, field, value);
            }
        }
        let reasoning = REASONING.iter().find_map(|field| match delta.remove(*field) {
            Some(Value::String(text)) if !text.is_empty() => Some(text),
            _ => None,
        });
        self.reasoned |= reasoning.is_some();
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
            if !self.calls.take(piece, &self.asked.names, items) {
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
        self.calls.finish(&self.asked.names, items);
        // A call that came with something, and reasoning, may have to go back to where they came from.
        let has_more = self.calls.has_extra() || (self.reasoned && self.asked.dialect.reasoning_back.is_some());
        if has_more || !self.kept.is_empty() {
            let data = Value::Object(std::mem::take(&mut self.kept));
            items.push(Item::Opaque(self.asked.origin.opaque(data)));
        }
        let implied = if self.calls.is_empty() { EndReason::Stop } else { EndReason::ToolCalls };
        items.push(Item::End { reason: self.reason.take().unwrap_or(implied) });
        self.over = true;
    }

    /// What arrived instead of an answer.
    fn no_answer(&self) -> String {
        let start = fault::one_line(&String::from_utf8_lossy(self.body.start()));
        let wanted = if self.asked.streaming { "a stream of events" } else { "JSON" };
        if start.is_empty() { EMPTY.to_owned() } else { format!("The server's answer is not {wanted}: {start}") }
    }

    fn fail(&mut self, text: String, items: &mut Vec<Item>) {
        items.push(Item::Failed(text));
        self.over = true;
    }
}

/// Puts the pieces of what must come back together: texts grow, and so do the elements of lists that have the same index
/// and type.
fn keep(kept: &mut Map<String, Value>, field: &str, more: &Value) {
    match (kept.get_mut(field), more) {
        (_, Value::Null) => {}
        (Some(Value::String(own)), Value::String(more)) => own.push_str(more),
        (Some(Value::Array(own)), Value::Array(more)) => more.iter().for_each(|piece| keep_piece(own, piece)),
        (None, Value::Array(pieces)) => {
            let mut own = Vec::new();
            pieces.iter().for_each(|piece| keep_piece(&mut own, piece));
            kept.insert(field.to_owned(), Value::Array(own));
        }
        (Some(_) | None, more) => drop(kept.insert(field.to_owned(), more.clone())),
    }
}

fn keep_piece(own: &mut Vec<Value>, piece: &Value) {
    let is_same = |last: &Value| last["index"] == piece["index"] && last["type"] == piece["type"];
    let Some(Value::Object(last)) = own.last_mut().filter(|last| piece.get("index").is_some() && is_same(last)) else {
        return own.push(piece.clone());
    };
    for (field, value) in piece.as_object().into_iter().flatten() {
        let grows = matches!(field.as_str(), "text" | "summary" | "data");
        match (last.get_mut(field), value) {
            (_, Value::Null) => {}
            (Some(Value::String(own)), Value::String(more)) if grows => own.push_str(more),
            _ => drop(last.insert(field.clone(), value.clone())),
        }
    }
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
