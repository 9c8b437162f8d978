//! The codec of OpenAI's chat completions and of the many servers that speak them more or less: a history becomes a
//! request's body, the bytes of an answer become items.

mod build;
mod calls;

pub use build::build;
use calls::{Calls, Piece};
use serde_json::{Map, Value};

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
    /// Text has arrived; a whole message that follows only repeats it.
    said: bool,
    /// Reasoning has arrived.
    reasoned: bool,
}

impl Codec for Completion {
    const NAME: &str = "a chat completion";

    fn event(&mut self, mut chunk: Map<String, Value>, answer: &mut Answer) {
        if let Some(Value::Array(choices)) = chunk.remove("choices") {
            answer.begin();
            // Other choices (`n` above 1) are other answers to the same question.
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
            (Some(Value::Object(delta)), _) => self.delta(delta, answer),
            (_, Some(Value::Object(message))) if !self.said && self.calls.is_empty() => self.delta(message, answer),
            _ => {}
        }
        let why = choice.get("native_finish_reason").and_then(Value::as_str).unwrap_or_default();
        match text_at(&choice, "finish_reason") {
            "" => {}
            word => answer.stop_for(FINISH_REASONS, word, if why == word { "" } else { why }),
        }
    }

    fn delta(&mut self, mut delta: Map<String, Value>, answer: &mut Answer) {
        for field in &answer.dialect().keep {
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
        self.text(take_text(&mut delta, "refusal").unwrap_or_default(), answer);
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

    fn text(&mut self, text: String, answer: &mut Answer) {
        self.said |= !text.is_empty();
        answer.text(text);
    }

    /// Text, or a list of parts.
    fn content(&mut self, content: Value, answer: &mut Answer) {
        match content {
            Value::String(text) => self.text(text, answer),
            Value::Array(parts) => parts.into_iter().for_each(|part| self.part(part, answer)),
            _ => {}
        }
    }

    fn part(&mut self, part: Value, answer: &mut Answer) {
        let Value::Object(mut part) = part else { return self.content(part, answer) };
        answer.reasoning(text_in(part.remove("thinking")));
        for field in ["text", "refusal"] {
            self.text(take_text(&mut part, field).unwrap_or_default(), answer);
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
