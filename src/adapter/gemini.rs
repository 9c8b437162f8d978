//! The codec of Google's generateContent: a history becomes a request's body, the events of an answer become items. The
//! signatures of thoughts go back with the parts that they came with.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::body::{self, Turns, put_tools};
use super::item::ProviderCall;
use super::names::Names;
use super::reader::{Answer, Codec, Reader, arguments_text, take_text, text_at};
use super::request::{Asked, BuildInput, Built, ToolDefinition};
use super::{fault, fit, known, raw};
use crate::message::{Attachment, Call, Message, Opaque};

/// Stands for the signature of a call that no model of this provider made; without one it refuses the request.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Builds the body. `model` and `stream` are part of the URL.
pub fn build(input: BuildInput<'_>) -> Built {
    let names = Names::like_words(input.tools.iter().map(|tool| tool.name.as_str()));
    let mut faults = Vec::new();
    let mut body = input.settings.clone();
    body.shift_remove("model");
    body.shift_remove("stream");
    if let Some(answer) = input.answer
        && let Value::Object(config) = body.entry("generationConfig").or_insert(json!({}))
    {
        config.entry("responseMimeType").or_insert(json!("application/json"));
        config.entry("responseJsonSchema").or_insert_with(|| answer.clone());
    }
    let needs_signature = wants_signatures(&input.origin.model);
    let mut system = Vec::new();
    let mut turns = Turns::default();
    let mut called: HashMap<&str, (&str, Option<&str>)> = HashMap::new();
    // Pictures of results follow them in a turn of their own.
    let (mut results, mut pictures) = (Vec::new(), Vec::new());
    for message in input.messages {
        // The results of one answer are one turn, and nothing else is in it.
        if !matches!(message.as_ref(), Message::Tool { .. }) {
            turns.push("user", std::mem::take(&mut results));
            turns.push("user", std::mem::take(&mut pictures));
        }
        match message.as_ref() {
            Message::System { content } => system.extend(text_part(content)),
            Message::User { content, attachments, .. } => {
                let text = text_part(&body::said(content, attachments, &input));
                turns.push("user", text.into_iter().chain(inline(body::pictures(message, &input))).collect());
            }
            Message::Llm { content, calls, opaque, .. } => {
                let opaque = input.origin.of_model(opaque.as_ref());
                called.extend(calls.iter().enumerate().map(|(number, call)| {
                    (
                        call.wire_id.as_str(),
                        (call.name.as_str(), opaque.and_then(|opaque| own_id(opaque, number, call))),
                    )
                }));
                let parts = match opaque {
                    Some(opaque) => kept_parts(opaque, content, calls, &names),
                    None => plain_parts(content, calls, &names),
                };
                turns.add("model", signed(parts, needs_signature));
            }
            Message::Tool { wire_id, content, is_error, .. } => {
                let (name, id) = called.get(wire_id.as_str()).copied().unwrap_or_default();
                pictures.extend(inline(body::pictures(message, &input)));
                results.push(result_part(&names.wire(name), id, content, *is_error));
            }
        }
    }
    turns.push("user", results);
    turns.push("user", pictures);
    if !system.is_empty() {
        body.insert("systemInstruction".to_owned(), json!({"parts": system}));
    }
    let turns = turns.finish("user", || json!({"text": body::FILLER}));
    let contents = turns.into_iter().map(|(role, parts)| json!({"role": role, "parts": parts})).collect();
    body.insert("contents".to_owned(), Value::Array(contents));
    let wrap = |tools: Vec<Value>| vec![json!({"functionDeclarations": tools})];
    put_tools(&mut body, &input, &names, &mut faults, describe, wrap);
    Built { body: Value::Object(body), names, faults, prefix: String::new() }
}

/// From its third generation on the provider wants signatures.
fn wants_signatures(model: &str) -> bool {
    let generation = model.rsplit('/').next().and_then(|name| name.strip_prefix("gemini-"));
    let digits = generation.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    digits.and_then(|digits| digits.parse::<u32>().ok()).is_none_or(|generation| generation >= 3)
}

/// Blank text is refused.
fn inline(pictures: &[Attachment]) -> impl Iterator<Item = Value> {
    pictures.iter().map(|picture| json!({"inlineData": {"mimeType": picture.mime, "data": picture.data}}))
}

fn text_part(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"text": text}))
}

fn plain_parts(content: &str, calls: &[Call], names: &Names) -> Vec<Value> {
    text_part(content).into_iter().chain(calls.iter().map(|call| call_part(Map::new(), call, names))).collect()
}

/// The parts of an answer as they came, the calls in their places.
fn kept_parts(opaque: &Opaque, content: &str, calls: &[Call], names: &Names) -> Vec<Value> {
    let Some(parts) = opaque.data["parts"].as_array() else { return plain_parts(content, calls, names) };
    let mut used = BTreeSet::new();
    let mut kept = Vec::new();
    for part in parts {
        match part.get("call").and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok()) {
            Some(number) => {
                if let (Some(call), Some(fields)) =
                    (calls.get(number).filter(|_| used.insert(number)), part.as_object())
                {
                    kept.push(call_part(fields.clone(), call, names));
                }
            }
            None if is_empty_text(part) => {}
            None => kept.push(part.clone()),
        }
    }
    let others = calls.iter().enumerate().filter(|(number, _)| !used.contains(number));
    kept.extend(others.map(|(_, call)| call_part(Map::new(), call, names)));
    kept
}

/// A text without letters and without a signature says nothing, and is refused.
fn is_empty_text(part: &Value) -> bool {
    part["text"] == "" && part.get("thoughtSignature").is_none()
}

/// The id that the provider gave a call, when it gave one and that is still the call's.
fn own_id<'a>(opaque: &'a Opaque, number: usize, call: &Call) -> Option<&'a str> {
    let parts = opaque.data["parts"].as_array()?;
    let part = parts.iter().find(|part| part["call"].as_u64().is_some_and(|own| usize::try_from(own) == Ok(number)))?;
    part["id"].as_str().filter(|id| *id == call.wire_id)
}

/// `kept`: what came with the call.
fn call_part(mut kept: Map<String, Value>, call: &Call, names: &Names) -> Value {
    kept.shift_remove("call");
    let mut function = Map::new();
    if let Some(id) = kept.shift_remove("id").filter(|id| *id == json!(call.wire_id)) {
        function.insert("id".to_owned(), id);
    }
    function.insert("name".to_owned(), json!(names.wire(&call.name)));
    function.insert("args".to_owned(), raw::object(&call.arguments));
    let mut part = Map::from_iter([("functionCall".to_owned(), Value::Object(function))]);
    part.extend(kept);
    Value::Object(part)
}

/// The first call of an answer must have a signature.
fn signed(mut parts: Vec<Value>, needed: bool) -> Vec<Value> {
    let first = parts.iter_mut().find(|part| part.get("functionCall").is_some());
    if let Some(Value::Object(part)) = first.filter(|_| needed) {
        part.entry("thoughtSignature").or_insert(json!(NO_SIGNATURE));
    }
    parts
}

fn result_part(name: &str, id: Option<&str>, content: &str, is_error: bool) -> Value {
    let mut response = Map::new();
    if let Some(id) = id {
        response.insert("id".to_owned(), json!(id));
    }
    response.insert("name".to_owned(), json!(name));
    let field = if is_error { "error" } else { "output" };
    response.insert("response".to_owned(), json!({field: content}));
    json!({"functionResponse": response})
}

fn describe(tool: &ToolDefinition, name: &str) -> Result<Value, String> {
    let parameters = fit::whole(&tool.parameters)?;
    let mut function = Map::new();
    function.insert("name".to_owned(), json!(name));
    function.insert("description".to_owned(), json!(tool.description.as_deref().unwrap_or(&tool.name)));
    // An object without properties is refused: no parameters at all says the same.
    if parameters != json!({"type": "object", "properties": {}}) {
        function.insert("parametersJsonSchema".to_owned(), parameters);
    }
    Ok(Value::Object(function))
}

/// Reads one answer.
pub type Decoder = Reader<Contents>;

/// A decoder for one answer.
pub fn decoder(asked: Asked) -> Decoder {
    Reader::new(asked)
}

/// The parts of an answer.
#[derive(Debug, Default)]
pub struct Contents {
    parts: Vec<Map<String, Value>>,
    /// Something of them is more than text and calls.
    special: bool,
    /// Code that the provider runs, until its result is there.
    running: Option<ProviderCall>,
}

impl Codec for Contents {
    const NAME: &str = "a content";

    fn event(&mut self, mut event: Map<String, Value>, answer: &mut Answer) {
        let usage = event.get("usageMetadata");
        let count = |field: &str| usage.and_then(|usage| usage.get(field)).and_then(Value::as_u64);
        let output =
            count("candidatesTokenCount").map(|count_of_text| count_of_text + count("thoughtsTokenCount").unwrap_or(0));
        answer.usage(count("promptTokenCount"), output.or(count("thoughtsTokenCount")));
        let blocked = event.get("promptFeedback").and_then(|feedback| feedback.get("blockReason"));
        if let Some(reason) = blocked.and_then(Value::as_str) {
            return answer.fail(format!("The provider refuses the prompt: {reason}"));
        }
        let Some(Value::Array(candidates)) = event.remove("candidates") else { return };
        answer.begin();
        // Other candidates are other answers to the same question.
        let Some(Value::Object(mut candidate)) = candidates.into_iter().next() else { return };
        if let Some(Value::Object(mut content)) = candidate.remove("content")
            && let Some(Value::Array(parts)) = content.remove("parts")
        {
            for part in parts {
                if let Value::Object(part) = part {
                    self.part(part, answer);
                }
            }
        }
        finished(&candidate, answer);
    }

    fn finish(&mut self, answer: &mut Answer) -> Option<Value> {
        self.running.take().into_iter().for_each(|call| answer.ran(call));
        self.special.then(|| json!({"parts": std::mem::take(&mut self.parts)}))
    }
}

impl Contents {
    fn part(&mut self, mut part: Map<String, Value>, answer: &mut Answer) {
        if part.get("thought") == Some(&Value::Bool(true)) {
            answer.reasoning(text_at(&part, "text"));
            // A thought goes back only for its signature.
            if part.contains_key("thoughtSignature") {
                self.special = true;
                self.parts.push(part);
            }
            return;
        }
        self.special |= part.contains_key("thoughtSignature");
        if let Some(Value::Object(mut function)) = part.remove("functionCall") {
            let id = take_text(&mut function, "id").unwrap_or_default();
            let call = answer.call(&id, text_at(&function, "name"));
            answer.arguments(call, arguments_text(function.get("args")));
            part.insert("call".to_owned(), json!(call));
            if !id.is_empty() {
                self.special = true;
                part.insert("id".to_owned(), json!(id));
            }
            self.parts.push(part);
        } else if let Some(text) = part.get("text").and_then(Value::as_str) {
            answer.text(text);
            if !text.is_empty() || part.contains_key("thoughtSignature") {
                self.text(part);
            }
        } else {
            self.special = true;
            self.ran(&part, answer);
            self.parts.push(part);
        }
    }

    /// Pieces of a text are one part, but what has a signature stays by itself.
    fn text(&mut self, part: Map<String, Value>) {
        let is_plain = |part: &Map<String, Value>| part.len() == 1 && part.contains_key("text");
        match self
            .parts
            .last_mut()
            .filter(|last| is_plain(last) && is_plain(&part))
            .and_then(|last| last.get_mut("text"))
        {
            Some(Value::String(last)) => last.push_str(text_at(&part, "text")),
            _ => self.parts.push(part),
        }
    }

    fn ran(&mut self, part: &Map<String, Value>, answer: &mut Answer) {
        if let Some(Value::Object(code)) = part.get("executableCode") {
            let label = fault::one_line(text_at(code, "code"));
            self.running = Some(ProviderCall { name: "code_execution".to_owned(), label, ..ProviderCall::default() });
        } else if let Some(Value::Object(result)) = part.get("codeExecutionResult") {
            let mut call = self.running.take().unwrap_or_default();
            call.output = text_at(result, "output").to_owned();
            call.is_error = !matches!(text_at(result, "outcome"), "" | "OUTCOME_OK");
            answer.ran(call);
        }
    }
}

/// Why the model stopped, if it did.
fn finished(candidate: &Map<String, Value>, answer: &mut Answer) {
    match text_at(candidate, "finishReason") {
        "" | "FINISH_REASON_UNSPECIFIED" => {}
        word => answer.stop_for(&[known::GEMINI_FINISH_REASONS], word, text_at(candidate, "finishMessage")),
    }
}

#[cfg(test)]
mod tests;
