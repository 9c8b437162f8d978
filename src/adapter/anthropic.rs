//! The codec of Anthropic's messages: a history becomes a request's body, the events of an answer become items. Thinking
//! and what the provider ran itself go back as they came.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::body::{self, Turns, put_tools};
use super::item::ProviderCall;
use super::known::{self, Meaning};
use super::names::{Names, legal_id};
use super::reader::{Answer, Codec, Reader, arguments_text, take_text, text_at};
use super::request::{Asked, BuildInput, Built, Origin, ToolDefinition};
use super::{fault, fit};
use crate::message::{Attachment, Call, Message, Opaque};

/// The provider wants a limit; an adapter says a better one.
const MAX_TOKENS: u64 = 8192;

/// Blocks that only the model that wrote them may get back.
const THINKING: &[&str] = &["thinking", "redacted_thinking"];

/// Builds the body: the settings, then system prompt, messages and tools.
pub fn build(input: BuildInput<'_>) -> Built {
    let names = Names::new(input.tools.iter().map(|tool| tool.name.as_str()));
    let mut faults = Vec::new();
    let mut body = input.settings.clone();
    body.entry("stream").or_insert(Value::Bool(true));
    body.entry("max_tokens").or_insert(json!(MAX_TOKENS));
    if let Some(schema) = input.answer
        && let Value::Object(config) = body.entry("output_config").or_insert(json!({}))
    {
        config.entry("format").or_insert(json!({"type": "json_schema", "schema": schema}));
    }
    let mut system = Vec::new();
    let mut turns = Turns::default();
    for message in input.messages {
        match message.as_ref() {
            Message::System { content } => system.extend(text_block(content)),
            Message::User { content, attachments, .. } => {
                let text = text_block(&body::said(content, attachments, &input));
                turns.add("user", text.into_iter().chain(images(body::pictures(message, &input))).collect());
            }
            Message::Llm { content, calls, opaque, .. } => {
                let blocks = match input.origin.of_adapter(opaque.as_ref()) {
                    Some(opaque) => kept_blocks(opaque, calls, input.origin, &names),
                    None => plain_blocks(content, calls, &names),
                };
                turns.add("assistant", blocks);
            }
            Message::Tool { wire_id, content, is_error, .. } => {
                let pictures = body::pictures(message, &input);
                turns.add("user", vec![result_block(wire_id, content, *is_error, pictures)]);
            }
        }
    }
    if !system.is_empty() {
        body.insert("system".to_owned(), Value::Array(system));
    }
    let turns = turns.finish("user", || json!({"type": "text", "text": body::FILLER}));
    if misses_thinking(&turns) && body.get("thinking").is_some_and(|thinking| thinking["type"] == "enabled") {
        // The calls come from elsewhere. With the next message of the user it thinks again.
        body.shift_remove("thinking");
    }
    let called = called(&turns);
    let messages = turns.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect();
    body.insert("messages".to_owned(), Value::Array(messages));
    put_tools(&mut body, &input, &names, &mut faults, describe, |tools| tools);
    if !body.contains_key("tools") && !called.is_empty() {
        // Calls of tools that are not described are refused.
        let gone = called.into_iter().map(|name| json!({"name": name, "input_schema": {"type": "object"}})).collect();
        body.insert("tools".to_owned(), Value::Array(gone));
        body.insert("tool_choice".to_owned(), json!({"type": "none"}));
    }
    Built { body: Value::Object(body), names, faults }
}

fn images(pictures: &[Attachment]) -> impl Iterator<Item = Value> {
    pictures.iter().map(|picture| {
        let source = json!({"type": "base64", "media_type": picture.mime, "data": picture.data});
        json!({"type": "image", "source": source})
    })
}

/// Blank text is refused.
fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn plain_blocks(content: &str, calls: &[Call], names: &Names) -> Vec<Value> {
    let calls = calls.iter().map(|call| tool_use(call, names));
    text_block(content).into_iter().chain(calls).collect()
}

/// The blocks of an answer as they came, the calls in their places.
fn kept_blocks(opaque: &Opaque, calls: &[Call], origin: &Origin, names: &Names) -> Vec<Value> {
    let same_model = opaque.model == origin.model;
    let mut used = BTreeSet::new();
    let mut blocks = Vec::new();
    for block in opaque.data["blocks"].as_array().into_iter().flatten() {
        let kind = block["type"].as_str().unwrap_or_default();
        if let Some(number) = block.get("call").and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok())
        {
            if let Some(call) = calls.get(number).filter(|_| used.insert(number)) {
                blocks.push(tool_use(call, names));
            }
        } else if kind == "text" {
            let is_blank = block["text"].as_str().unwrap_or_default().trim().is_empty();
            blocks.extend((!is_blank).then(|| block.clone()));
        } else if same_model || !THINKING.contains(&kind) {
            blocks.push(block.clone());
        }
    }
    let others = calls.iter().enumerate().filter(|(number, _)| !used.contains(number));
    blocks.extend(others.map(|(_, call)| tool_use(call, names)));
    blocks
}

fn tool_use(call: &Call, names: &Names) -> Value {
    let (id, name) = (legal_id(&call.wire_id), names.wire(&call.name));
    json!({"type": "tool_use", "id": id, "name": name, "input": body::object(&call.arguments)})
}

fn result_block(wire_id: &str, content: &str, is_error: bool, pictures: &[Attachment]) -> Value {
    let mut block = Map::new();
    block.insert("type".to_owned(), json!("tool_result"));
    block.insert("tool_use_id".to_owned(), json!(legal_id(wire_id)));
    if !pictures.is_empty() {
        block.insert("content".to_owned(), text_block(content).into_iter().chain(images(pictures)).collect());
    } else if !content.is_empty() {
        block.insert("content".to_owned(), json!(content));
    }
    if is_error {
        block.insert("is_error".to_owned(), Value::Bool(true));
    }
    Value::Object(block)
}

/// Whether the answer that waits for results begins without thinking.
fn misses_thinking(turns: &[(&'static str, Vec<Value>)]) -> bool {
    let is = |block: &Value, kind: &str| block["type"] == kind;
    let open = turns.last().is_some_and(|(_, blocks)| blocks.iter().any(|block| is(block, "tool_result")));
    let last = turns.iter().rev().find(|(role, _)| *role == "assistant");
    let thinks = |block: &Value| THINKING.iter().any(|kind| is(block, kind));
    open && last.is_some_and(|(_, blocks)| !blocks.first().is_some_and(thinks))
}

/// The names of the tools that the history calls.
fn called(turns: &[(&'static str, Vec<Value>)]) -> BTreeSet<String> {
    let blocks = turns.iter().flat_map(|(_, blocks)| blocks);
    let calls = blocks.filter(|block| block["type"] == "tool_use");
    calls.filter_map(|block| block["name"].as_str().map(str::to_owned)).collect()
}

fn describe(tool: &ToolDefinition, name: &str) -> Result<Value, String> {
    let schema = fit::parameters(&tool.parameters)?;
    let mut described = Map::new();
    described.insert("name".to_owned(), json!(name));
    if let Some(description) = tool.description.as_ref().filter(|text| !text.is_empty()) {
        described.insert("description".to_owned(), json!(description));
    }
    described.insert("input_schema".to_owned(), schema);
    Ok(Value::Object(described))
}

/// Reads one answer.
pub type Decoder = Reader<Messages>;

/// A decoder for one answer.
pub fn decoder(asked: Asked) -> Decoder {
    Reader::new(asked)
}

/// The blocks of an answer.
#[derive(Debug, Default)]
pub struct Messages {
    /// By the number that the provider gives them.
    blocks: BTreeMap<u64, Block>,
    /// What the calls that the provider runs are, by id.
    ran: BTreeMap<String, ProviderCall>,
    paused: bool,
}

#[derive(Debug, Default)]
struct Block {
    fields: Map<String, Value>,
    /// JSON text of the input, so far.
    input: String,
    /// Place among the calls.
    call: Option<usize>,
    ended: bool,
}

impl Codec for Messages {
    const NAME: &str = "a message";

    fn event(&mut self, mut event: Map<String, Value>, answer: &mut Answer) {
        let number = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match text_at(&event, "type") {
            "message_start" => {
                answer.begin();
                if let Some(message) = event.get("message") {
                    take_usage(message.get("usage"), answer);
                }
            }
            "content_block_start" => {
                if let Some(Value::Object(block)) = event.remove("content_block") {
                    self.start(number, block, answer);
                }
            }
            "content_block_delta" => {
                if let Some(Value::Object(delta)) = event.remove("delta") {
                    self.delta(number, delta, answer);
                }
            }
            "content_block_stop" => self.stop(number, answer),
            "message_delta" => {
                answer.begin();
                take_usage(event.get("usage"), answer);
                if let Some(Value::Object(delta)) = event.get("delta") {
                    self.reason(delta, answer);
                }
            }
            "message_stop" => answer.close(),
            // No stream: the whole message at once.
            "message" => {
                answer.begin();
                take_usage(event.get("usage"), answer);
                let blocks = event.remove("content");
                for (number, block) in (0..).zip(blocks.as_ref().and_then(Value::as_array).into_iter().flatten()) {
                    if let Value::Object(block) = block {
                        self.start(number, block.clone(), answer);
                        self.stop(number, answer);
                    }
                }
                self.reason(&event, answer);
            }
            _ => {}
        }
    }

    fn finish(&mut self, answer: &mut Answer) -> Option<Value> {
        let open: Vec<u64> = self.blocks.iter().filter(|(_, block)| !block.ended).map(|(number, _)| *number).collect();
        open.into_iter().for_each(|number| self.stop(number, answer));
        let blocks: Vec<Map<String, Value>> =
            std::mem::take(&mut self.blocks).into_values().map(|block| block.fields).collect();
        let is_plain = |block: &Map<String, Value>| {
            block.contains_key("call") || (text_at(block, "type") == "text" && !block.contains_key("citations"))
        };
        // An answer that is only thinking is not kept.
        let says = |block: &Map<String, Value>| !THINKING.contains(&text_at(block, "type"));
        let kept = (self.paused || blocks.iter().any(says)) && !blocks.iter().all(is_plain);
        kept.then(|| json!({"blocks": blocks}))
    }
}

impl Messages {
    fn start(&mut self, number: u64, mut fields: Map<String, Value>, answer: &mut Answer) {
        answer.begin();
        let mut block = Block::default();
        match text_at(&fields, "type") {
            "text" => answer.text(text_at(&fields, "text")),
            "thinking" => answer.reasoning(text_at(&fields, "thinking")),
            "tool_use" => {
                let call = answer.call(text_at(&fields, "id"), text_at(&fields, "name"));
                answer.arguments(call, start_of_input(fields.get("input")));
                block.call = Some(call);
                fields = Map::from_iter([("type".to_owned(), json!("tool_use")), ("call".to_owned(), json!(call))]);
            }
            kind if kind.ends_with("_tool_use") => block.input = start_of_input(fields.get("input")),
            _ => {}
        }
        // A null is what the provider says where it has nothing, and does not take back.
        fields.retain(|_, value| !value.is_null());
        block.fields = fields;
        self.blocks.insert(number, block);
    }

    fn delta(&mut self, number: u64, mut delta: Map<String, Value>, answer: &mut Answer) {
        let Some(block) = self.blocks.get_mut(&number).filter(|block| !block.ended) else { return };
        match text_at(&delta, "type") {
            "text_delta" => {
                let text = take_text(&mut delta, "text").unwrap_or_default();
                append(&mut block.fields, "text", &text);
                answer.text(text);
            }
            "thinking_delta" => {
                let text = take_text(&mut delta, "thinking").unwrap_or_default();
                append(&mut block.fields, "thinking", &text);
                answer.reasoning(text);
            }
            "signature_delta" => append(&mut block.fields, "signature", text_at(&delta, "signature")),
            "input_json_delta" => {
                let text = text_at(&delta, "partial_json");
                match block.call {
                    Some(call) => answer.arguments(call, text),
                    None => block.input.push_str(text),
                }
            }
            "citations_delta" => {
                if let Some(citation) = delta.remove("citation")
                    && let Value::Array(citations) = block.fields.entry("citations").or_insert(json!([]))
                {
                    citations.push(citation);
                }
            }
            _ => {}
        }
    }

    fn stop(&mut self, number: u64, answer: &mut Answer) {
        let Some(block) = self.blocks.get_mut(&number).filter(|block| !block.ended) else { return };
        block.ended = true;
        let kind = text_at(&block.fields, "type").to_owned();
        if kind.ends_with("_tool_use") {
            let input = body::object(&block.input);
            let call = ProviderCall {
                name: text_at(&block.fields, "name").to_owned(),
                label: label(&input),
                ..ProviderCall::default()
            };
            block.fields.insert("input".to_owned(), input);
            self.ran.insert(text_at(&block.fields, "id").to_owned(), call);
        } else if kind.ends_with("_tool_result") {
            let mut call = self.ran.remove(text_at(&block.fields, "tool_use_id")).unwrap_or_default();
            if call.name.is_empty() {
                call.name = kind.trim_end_matches("_tool_result").to_owned();
            }
            (call.output, call.is_error) = outcome(block.fields.get("content"));
            answer.ran(call);
        }
    }

    fn reason(&mut self, delta: &Map<String, Value>, answer: &mut Answer) {
        let word = text_at(delta, "stop_reason");
        if !word.is_empty() {
            self.paused = known::meaning(&[known::ANTHROPIC_STOP_REASONS], word) == Some(Meaning::Paused);
            let details = delta.get("stop_details").and_then(Value::as_object);
            let told = ["category", "explanation"].iter().filter_map(|field| details?.get(*field)?.as_str());
            let why = told.collect::<Vec<_>>().join(": ");
            answer.stop_for(&[known::ANTHROPIC_STOP_REASONS], word, &why);
        }
    }
}

/// A stream begins with an empty input and sends the real one in pieces.
fn start_of_input(input: Option<&Value>) -> String {
    match input {
        Some(Value::Object(fields)) if fields.is_empty() => String::new(),
        input => arguments_text(input),
    }
}

fn append(fields: &mut Map<String, Value>, field: &str, text: &str) {
    match fields.get_mut(field) {
        Some(Value::String(own)) => own.push_str(text),
        _ => drop(fields.insert(field.to_owned(), json!(text))),
    }
}

fn take_usage(usage: Option<&Value>, answer: &mut Answer) {
    let Some(usage) = usage else { return };
    let count = |field: &str| usage.get(field).and_then(Value::as_u64);
    let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"].iter().filter_map(|field| count(field));
    answer.usage(count("input_tokens").map(|input| input + cached.sum::<u64>()), count("output_tokens"));
}

/// What a call of the provider's is about.
fn label(input: &Value) -> String {
    let fields = ["query", "url", "command", "code", "path"];
    let told = fields.iter().find_map(|field| input.get(*field).and_then(Value::as_str));
    fault::one_line(told.unwrap_or_default())
}

/// What a result of the provider's says to the user, and whether it is an error.
fn outcome(content: Option<&Value>) -> (String, bool) {
    match content {
        Some(Value::Object(fields)) => match fields.get("error_code").and_then(Value::as_str) {
            Some(code) => (code.to_owned(), true),
            None => (shown(fields), fields.get("return_code").and_then(Value::as_i64).is_some_and(|code| code != 0)),
        },
        Some(Value::Array(entries)) => {
            let entries = entries.iter().filter_map(Value::as_object).map(shown);
            (entries.filter(|entry| !entry.is_empty()).collect::<Vec<_>>().join("\n"), false)
        }
        _ => (String::new(), false),
    }
}

fn shown(fields: &Map<String, Value>) -> String {
    let parts = ["title", "url", "stdout", "stderr"].iter().map(|field| text_at(fields, field).trim());
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
