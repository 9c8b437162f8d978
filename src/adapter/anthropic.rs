//! The codec of Anthropic's messages: a history becomes a request's body, the events of an answer become items. Thinking
//! and what the provider ran itself go back as they came.

mod build;
mod prefix;

use std::collections::BTreeMap;

pub use build::build;
use serde_json::{Map, Value, json};

use super::item::ProviderCall;
use super::known::{self, Meaning};
use super::reader::{Answer, Codec, Reader, arguments_text, take_text, text_at};
use super::request::Asked;
use super::{fault, raw};

/// Blocks that only the model that wrote them may get back.
const THINKING: &[&str] = &["thinking", "redacted_thinking"];

fn is_thinking(block: &Value) -> bool {
    block["type"].as_str().is_some_and(|kind| THINKING.contains(&kind))
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
    /// Where the provider ran code.
    container: Option<Value>,
}

#[derive(Debug, Default)]
struct Block {
    fields: Map<String, Value>,
    /// JSON text of the input, so far.
    input: String,
    /// The input was in the block from the start. What comes in pieces counts in its place.
    whole: bool,
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
                    self.keep_container(message.get("container"));
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
                    self.keep_container(delta.get("container"));
                    self.reason(delta, answer);
                }
            }
            "message_stop" => answer.close(),
            // No stream: the whole message at once.
            "message" => {
                answer.begin();
                take_usage(event.get("usage"), answer);
                self.keep_container(event.get("container"));
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
        let is_plain = |block: &Map<String, Value>| match text_at(block, "type") {
            "tool_use" => block.len() == 2,
            "text" => !block.contains_key("citations"),
            _ => false,
        };
        // An answer that is only thinking is not kept, but a pause is: what follows is its rest.
        let says = |block: &Map<String, Value>| !THINKING.contains(&text_at(block, "type"));
        let kept =
            if self.paused { !blocks.is_empty() } else { blocks.iter().any(says) && !blocks.iter().all(is_plain) };
        let thinks = blocks.iter().any(|block| !says(block));
        let mut data = Map::new();
        if kept {
            data.insert("blocks".to_owned(), json!(blocks));
        }
        if kept && thinks {
            data.insert("prefix".to_owned(), json!(answer.prefix()));
        }
        data.extend(self.container.take().map(|container| ("container".to_owned(), container)));
        (!data.is_empty()).then(|| Value::Object(data))
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
                block.input = start_of_input(fields.get("input"));
                block.call = Some(call);
                // What the call is goes with the call; the rest is the provider's.
                fields.retain(|field, _| !matches!(field.as_str(), "id" | "name" | "input"));
                fields.insert("call".to_owned(), json!(call));
            }
            kind if kind.ends_with("_tool_use") => block.input = start_of_input(fields.get("input")),
            _ => {}
        }
        block.whole = !block.input.is_empty();
        // A null is what the provider says where it has nothing, and does not take back but in what it has compacted.
        let is_whole = text_at(&fields, "type") == "compaction";
        fields.retain(|_, value| is_whole || !value.is_null());
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
                if !text.is_empty() && std::mem::take(&mut block.whole) {
                    block.input.clear();
                }
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
            "compaction_delta" => {
                delta.shift_remove("type");
                block.fields.extend(delta);
            }
            _ => {}
        }
    }

    fn keep_container(&mut self, container: Option<&Value>) {
        if let Some(container) = container.filter(|container| container["id"].is_string()) {
            let fields = ["id", "expires_at"]
                .iter()
                .filter_map(|field| Some(((*field).to_owned(), container.get(*field)?.clone())));
            self.container = Some(fields.collect());
        }
    }

    fn stop(&mut self, number: u64, answer: &mut Answer) {
        let Some(block) = self.blocks.get_mut(&number).filter(|block| !block.ended) else { return };
        block.ended = true;
        if let Some(call) = block.call.filter(|_| block.whole) {
            answer.arguments(call, std::mem::take(&mut block.input));
        }
        let kind = text_at(&block.fields, "type").to_owned();
        if kind.ends_with("_tool_use") {
            let call = ProviderCall {
                name: text_at(&block.fields, "name").to_owned(),
                label: serde_json::from_str(&block.input).map(|input| label(&input)).unwrap_or_default(),
                ..ProviderCall::default()
            };
            block.fields.insert("input".to_owned(), raw::object(&block.input));
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
#[cfg(test)]
mod tests_prefix;
