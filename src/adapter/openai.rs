//! The codec of OpenAI's chat completions and of the many servers that speak them more or less: a history becomes a
//! request's body, the bytes of an answer become items.

mod build;
mod calls;

pub use build::build;
use calls::{Calls, MESSAGE_EXTRA, Piece};
use serde_json::{Map, Value, json};

use super::known::{self, Words};
use super::reader::{Answer, Codec, Reader, error_in, take_text, text_at};
use super::request::Asked;

/// Where servers put the model's reasoning. Some send it under two names at once: the first counts.
const REASONING: &[&str] = &["reasoning_content", "reasoning", "reasoning_text", "thinking"];

/// Why a model stops, at every server that speaks this wire.
const FINISH_REASONS: &[&Words] =
    &[known::OPENAI_FINISH_REASONS, known::MISTRAL_FINISH_REASONS, known::COMPATIBLE_FINISH_REASONS];

/// Reads one answer.
pub type Decoder = Reader<Completion>;

/// A decoder for one answer.
pub fn decoder(asked: Asked) -> Decoder {
    Reader::new(asked)
}

/// What is known of an answer.
#[derive(Debug, Default)]
pub struct Completion {
    /// What must come back, by its field.
    kept: Map<String, Value>,
    calls: Calls,
    /// The parts of the content, when it thinks in them.
    parts: Vec<Value>,
    /// Text or calls have arrived in pieces; a whole message that follows only repeats them.
    streamed: bool,
    /// Reasoning has arrived.
    reasoned: bool,
}

impl Codec for Completion {
    const NAME: &str = "a chat completion";

    fn event(&mut self, mut chunk: Map<String, Value>, answer: &mut Answer) {
        if let Some(Value::Array(choices)) = chunk.remove("choices") {
            answer.begin();
            // Other choices (`n` above 1) are other answers to the same question. Without numbers they are one answer in
            // several pieces.
            let first = |choice: &Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
            for choice in choices.into_iter().filter(first) {
                if let Value::Object(choice) = choice {
                    self.choice(choice, answer);
                }
                if answer.has_failed() {
                    return;
                }
            }
        }
        let usage = match chunk.remove("usage") {
            Some(usage @ Value::Object(_)) => Some(usage),
            _ => chunk.remove("x_groq").and_then(|mut own| own.get_mut("usage").map(Value::take)),
        };
        if let Some(usage) = &usage {
            take_usage(usage, answer);
        }
    }

    fn finish(&mut self, answer: &mut Answer) -> Option<Value> {
        self.calls.finish(answer);
        if self.parts.iter().any(|part| part["type"] == "thinking") {
            self.kept.insert("content".to_owned(), Value::Array(std::mem::take(&mut self.parts)));
        }
        // A call that came with something, and reasoning, may have to go back to where they came from.
        let has_more = self.calls.has_extra() || (self.reasoned && answer.dialect().reasoning_back.is_some());
        (has_more || !self.kept.is_empty()).then(|| Value::Object(std::mem::take(&mut self.kept)))
    }
}

impl Completion {
    fn choice(&mut self, mut choice: Map<String, Value>, answer: &mut Answer) {
        if let Some(error) = error_in(&choice) {
            return answer.fail(error);
        }
        match (choice.remove("delta"), choice.remove("message")) {
            (Some(Value::Object(delta)), _) => {
                let empty = |field: &str| matches!(delta.get(field), None | Some(Value::Null)) || delta[field] == "";
                self.streamed |= !(empty("content") && empty("tool_calls") && empty("function_call"));
                self.delta(delta, answer);
            }
            (_, Some(Value::Object(message))) if !self.streamed => self.delta(message, answer),
            _ => {}
        }
        let why = choice.get("native_finish_reason").and_then(Value::as_str).unwrap_or_default();
        match text_at(&choice, "finish_reason") {
            "" => {}
            word => answer.stop_for(FINISH_REASONS, word, if why == word { "" } else { why }),
        }
    }

    fn delta(&mut self, mut delta: Map<String, Value>, answer: &mut Answer) {
        let keep_fields = answer.dialect().keep.iter().map(String::as_str);
        for field in keep_fields.chain(MESSAGE_EXTRA.iter().copied()) {
            if let Some(value) = delta.get(field) {
                keep(&mut self.kept, field, value);
            }
        }
        let reasoning = REASONING.iter().find_map(|field| match delta.remove(*field) {
            Some(Value::String(text)) if !text.is_empty() => Some(text),
            _ => None,
        });
        if let Some(reasoning) = reasoning {
            self.reasoned = true;
            answer.reasoning(reasoning);
        }
        if let Some(content) = delta.remove("content") {
            self.content(content, answer);
        }
        answer.text(take_text(&mut delta, "refusal").unwrap_or_default());
        let mut pieces = Vec::new();
        match delta.remove("tool_calls") {
            Some(Value::Array(calls)) => pieces.extend(calls.into_iter().filter_map(Piece::of_call)),
            Some(call @ Value::Object(_)) => pieces.extend(Piece::of_call(call)),
            _ => {}
        }
        // The form before there were several calls.
        pieces.extend(delta.remove("function_call").and_then(Piece::of_function));
        for piece in pieces {
            if !self.calls.take(piece, answer) {
                let text = "The server sent a piece of a tool call without saying of which one. Nothing was run.";
                return answer.fail(text);
            }
        }
    }

    /// Text, or a list of parts.
    fn content(&mut self, content: Value, answer: &mut Answer) {
        match content {
            Value::String(text) => {
                if !self.parts.is_empty() && !text.is_empty() {
                    join_part(&mut self.parts, json!({"type": "text", "text": text}));
                }
                answer.text(text);
            }
            Value::Array(parts) => parts.into_iter().for_each(|part| self.part(part, answer)),
            _ => {}
        }
    }

    fn part(&mut self, part: Value, answer: &mut Answer) {
        if answer.dialect().thinking_parts && part.is_object() {
            join_part(&mut self.parts, part.clone());
        }
        let Value::Object(mut part) = part else { return self.content(part, answer) };
        answer.reasoning(text_in(part.remove("thinking")));
        for field in ["text", "refusal"] {
            answer.text(take_text(&mut part, field).unwrap_or_default());
        }
    }
}

/// Adds a part of a content; a piece of the last one joins it.
fn join_part(parts: &mut Vec<Value>, piece: Value) {
    let joins =
        |last: &Value| last["type"] == piece["type"] && (piece["type"] == "text" || piece["type"] == "thinking");
    let (Some(Value::Object(last)), Value::Object(more)) = (parts.last_mut().filter(|last| joins(last)), &piece) else {
        return parts.push(piece);
    };
    for (field, value) in more {
        match (last.get_mut(field), value) {
            (_, Value::Null) => {}
            (Some(Value::String(own)), Value::String(more)) if field == "text" => own.push_str(more),
            (Some(Value::Array(own)), Value::Array(more)) if field == "thinking" => {
                more.iter().for_each(|inner| join_part(own, inner.clone()));
            }
            _ => drop(last.insert(field.clone(), value.clone())),
        }
    }
}

/// The text of a string, a part or a list of parts.
fn text_in(value: Option<Value>) -> String {
    match value {
        Some(Value::String(text)) => text,
        Some(Value::Array(parts)) => parts.into_iter().map(|part| text_in(Some(part))).collect(),
        Some(Value::Object(mut part)) => take_text(&mut part, "text").unwrap_or_default(),
        _ => String::new(),
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
        (Some(Value::Object(own)), Value::Object(more)) => {
            own.extend(
                more.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), value.clone())),
            );
        }
        (Some(_) | None, more) => drop(kept.insert(field.to_owned(), more.clone())),
    }
}

fn keep_piece(own: &mut Vec<Value>, piece: &Value) {
    let is_same = |last: &Value| last["index"] == piece["index"] && last["type"] == piece["type"];
    // Thinking without an index ends with its signature.
    let is_open = |last: &Value| piece["type"] == "thinking" && last["signature"].as_str().is_none_or(str::is_empty);
    let joins = |last: &Value| is_same(last) && (piece.get("index").is_some() || is_open(last));
    let Some(Value::Object(last)) = own.last_mut().filter(|last| joins(last)) else {
        return own.push(piece.clone());
    };
    for (field, value) in piece.as_object().into_iter().flatten() {
        let grows = matches!(field.as_str(), "text" | "summary" | "data" | "thinking");
        match (last.get_mut(field), value) {
            (_, Value::Null) => {}
            (Some(Value::String(own)), Value::String(more)) if grows => own.push_str(more),
            _ => drop(last.insert(field.clone(), value.clone())),
        }
    }
}

fn take_usage(usage: &Value, answer: &mut Answer) {
    let count = |names: [&str; 2]| names.iter().find_map(|name| usage.get(*name).and_then(Value::as_u64));
    let (input, output) = (count(["prompt_tokens", "input_tokens"]), count(["completion_tokens", "output_tokens"]));
    if input.is_some() || output.is_some() {
        answer.begin();
        answer.usage(Some(input.unwrap_or(0)), Some(output.unwrap_or(0)));
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_calls;
#[cfg(test)]
mod tests_dialect;
#[cfg(test)]
mod tests_requests;
