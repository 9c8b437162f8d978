//! A history becomes the body of a request.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value, json};

use super::is_thinking;
use super::prefix::Prefix;
use crate::adapter::body::{self, Turns, put_tools};
use crate::adapter::fit::{self, StrictTools};
use crate::adapter::names::{Names, legal_id};
use crate::adapter::raw;
use crate::adapter::request::{BuildInput, Built, ToolDefinition};
use crate::message::{Attachment, Call, Message, Opaque};

/// The provider wants a limit; an adapter says a better one.
const MAX_TOKENS: u64 = 8192;

/// So many of the user's last turns are marked for the cache: the last one, and the one that was the last before.
const MARKED_TURNS: usize = 2;

/// Builds the body: the settings, then tools, system prompt and messages, in the order in which the model reads them.
pub fn build(input: BuildInput<'_>) -> Built {
    let names = Names::new(input.tools.iter().map(|tool| tool.name.as_str()));
    let mut faults = Vec::new();
    let mut body = input.settings.clone();
    let mark = body.shift_remove("cache_control").filter(Value::is_object);
    body.entry("stream").or_insert(Value::Bool(true));
    body.entry("max_tokens").or_insert(json!(MAX_TOKENS));
    if let Some(schema) = input.answer
        && let Value::Object(config) = body.entry("output_config").or_insert(json!({}))
    {
        config.entry("format").or_insert(json!({"type": "json_schema", "schema": schema}));
    }
    let mut strict = StrictTools::default();
    let describe = |tool: &ToolDefinition, name: &str| described(tool, name, &input, &mut strict);
    put_tools(&mut body, &input, &names, &mut faults, describe, |tools| tools);
    put_gone_tools(&mut body, &input, &names);
    let system = input.messages.iter().filter_map(|message| match message.as_ref() {
        Message::System { content } => text_block(content),
        Message::User { .. } | Message::Llm { .. } | Message::Tool { .. } => None,
    });
    let system: Vec<Value> = system.collect();
    let mut history = History::new(&input, &names);
    history.prefix.add(body.get("tools").unwrap_or(&Value::Null));
    history.prefix.add(&json!(system));
    input.messages.iter().for_each(|message| history.add(message));
    let prefix = history.prefix.fingerprint();
    let turns = history.turns.finish("user", || json!({"type": "text", "text": body::FILLER}));
    if misses_thinking(&turns) && body.get("thinking").is_some_and(|thinking| thinking["type"] == "enabled") {
        // The calls come from elsewhere. With the next message of the user it thinks again.
        body.shift_remove("thinking");
    }
    if let Some(id) = container(&input).filter(|_| has_provider_tools(&body)) {
        body.entry("container").or_insert(id);
    }
    if !system.is_empty() {
        body.insert("system".to_owned(), Value::Array(system));
    }
    let messages = turns.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect();
    body.insert("messages".to_owned(), Value::Array(messages));
    if let Some(mark) = mark {
        mark_for_cache(&mut body, &mark);
    }
    Built { body: Value::Object(body), names, faults, prefix }
}

/// A history on its way into a body.
struct History<'a> {
    input: &'a BuildInput<'a>,
    names: &'a Names,
    /// Ids of calls that the provider made.
    own_ids: HashSet<&'a str>,
    /// What was added so far, and stands before it.
    prefix: Prefix,
    turns: Turns,
}

impl<'a> History<'a> {
    fn new(input: &'a BuildInput<'a>, names: &'a Names) -> Self {
        Self { input, names, own_ids: HashSet::new(), prefix: Prefix::default(), turns: Turns::default() }
    }

    fn add(&mut self, message: &'a Message) {
        match message {
            Message::System { .. } => {}
            Message::User { content, attachments, .. } => {
                let text = text_block(&body::said(content, attachments, self.input));
                let pictures = images(body::pictures(message, self.input));
                self.push("user", text.into_iter().chain(pictures).collect());
            }
            Message::Llm { content, calls, opaque, .. } => {
                self.own_ids.extend(self.input.origin.own_ids(opaque.as_ref()));
                let opaque = self.input.origin.of_adapter(opaque.as_ref());
                let blocks = match opaque.and_then(|opaque| opaque.data["blocks"].as_array().map(|own| (opaque, own))) {
                    Some((opaque, own)) => self.kept_blocks(opaque, own, calls),
                    None => text_block(content)
                        .into_iter()
                        .chain(calls.iter().map(|call| self.tool_use(None, call)))
                        .collect(),
                };
                self.push("assistant", blocks);
            }
            Message::Tool { wire_id, content, is_error, .. } => {
                let pictures = body::pictures(message, self.input);
                let result = result_block(&self.id_of(wire_id), content, *is_error, pictures);
                self.push("user", vec![result]);
            }
        }
    }

    fn push(&mut self, role: &'static str, blocks: Vec<Value>) {
        for block in &blocks {
            self.prefix.add(&json!([role, block]));
        }
        self.turns.add(role, blocks);
    }

    /// The blocks of an answer as they came, the calls in their places. Thinking goes only to the model that thought, and
    /// only after what stood before it then: after a tool was added, say, it would be refused, and all that came later with
    /// it.
    fn kept_blocks(&self, opaque: &Opaque, own: &[Value], calls: &[Call]) -> Vec<Value> {
        let thought_here =
            self.input.origin.model == opaque.model && opaque.data["prefix"] == self.prefix.fingerprint();
        let mut used = BTreeSet::new();
        let mut blocks = Vec::new();
        for block in own {
            let number = block.get("call").and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
            if let Some(number) = number {
                if let Some(call) = calls.get(number).filter(|_| used.insert(number)) {
                    blocks.push(self.tool_use(block.as_object(), call));
                }
            } else if block["type"] == "text" {
                let is_blank = block["text"].as_str().unwrap_or_default().trim().is_empty();
                blocks.extend((!is_blank).then(|| block.clone()));
            } else if thought_here || !is_thinking(block) {
                blocks.push(block.clone());
            }
        }
        let others = calls.iter().enumerate().filter(|(number, _)| !used.contains(number));
        blocks.extend(others.map(|(_, call)| self.tool_use(None, call)));
        blocks
    }

    /// `own`: the fields that the call came with.
    fn tool_use(&self, own: Option<&Map<String, Value>>, call: &Call) -> Value {
        let mut block = Map::new();
        block.insert("type".to_owned(), json!("tool_use"));
        block.insert("id".to_owned(), json!(self.id_of(&call.wire_id)));
        block.insert("name".to_owned(), json!(self.names.wire(&call.name)));
        block.insert("input".to_owned(), raw::object(&call.arguments));
        let own = own.into_iter().flatten().filter(|(field, _)| *field != "call");
        block.extend(own.map(|(field, value)| (field.clone(), value.clone())));
        Value::Object(block)
    }

    fn id_of<'b>(&self, id: &'b str) -> Cow<'b, str> {
        if self.own_ids.contains(id) { Cow::Borrowed(id) } else { legal_id(id) }
    }
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

fn result_block(id: &str, content: &str, is_error: bool, pictures: &[Attachment]) -> Value {
    let mut block = Map::new();
    block.insert("type".to_owned(), json!("tool_result"));
    block.insert("tool_use_id".to_owned(), json!(id));
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
    let open = turns.last().is_some_and(|(_, blocks)| blocks.iter().any(|block| block["type"] == "tool_result"));
    let last = turns.iter().rev().find(|(role, _)| *role == "assistant");
    open && last.is_some_and(|(_, blocks)| !blocks.first().is_some_and(is_thinking))
}

/// Calls of tools that are not described are refused: where none is, those of the history are named, and no other call is
/// possible.
fn put_gone_tools(body: &mut Map<String, Value>, input: &BuildInput<'_>, names: &Names) {
    if body.contains_key("tools") {
        return;
    }
    let calls = input.messages.iter().filter_map(|message| match message.as_ref() {
        Message::Llm { calls, .. } => Some(calls),
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => None,
    });
    let called: BTreeSet<Cow<'_, str>> = calls.flatten().map(|call| names.wire(&call.name)).collect();
    if !called.is_empty() {
        let gone = called.into_iter().map(|name| json!({"name": name, "input_schema": {"type": "object"}})).collect();
        body.insert("tools".to_owned(), Value::Array(gone));
        body.insert("tool_choice".to_owned(), json!({"type": "none"}));
    }
}

fn described(
    tool: &ToolDefinition,
    name: &str,
    input: &BuildInput<'_>,
    strict: &mut StrictTools,
) -> Result<Value, String> {
    let schema = fit::parameters(&tool.parameters)?;
    let closed = if tool.strict == Some(true) && !input.dialect.no_strict { strict.close(&schema) } else { None };
    let mut described = Map::new();
    described.insert("name".to_owned(), json!(name));
    if let Some(description) = tool.description.as_ref().filter(|text| !text.is_empty()) {
        described.insert("description".to_owned(), json!(description));
    }
    if closed.is_some() {
        described.insert("strict".to_owned(), Value::Bool(true));
    }
    if input.dialect.eager_input {
        described.insert("eager_input_streaming".to_owned(), Value::Bool(true));
    }
    described.insert("input_schema".to_owned(), closed.unwrap_or(schema));
    Ok(Value::Object(described))
}

/// Whether the provider runs tools itself.
fn has_provider_tools(body: &Map<String, Value>) -> bool {
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    tools.filter_map(|tool| tool.get("type")?.as_str()).any(|kind| kind != "custom")
}

/// Where the provider ran code before, unless that is gone.
fn container(input: &BuildInput<'_>) -> Option<Value> {
    let answers = input.messages.iter().rev().filter_map(|message| match message.as_ref() {
        Message::Llm { opaque, .. } => input.origin.of_adapter(opaque.as_ref()),
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => None,
    });
    let kept = answers.map(|opaque| &opaque.data["container"]).find(|container| container["id"].is_string())?;
    let is_gone = kept["expires_at"].as_str().is_some_and(|ends| *ends <= *utc(input.now_s));
    (!is_gone).then(|| kept["id"].clone())
}

/// A time as the provider writes it, up to the second: such texts are ordered as the times are.
fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March, in eras of 400: the leap day is the last of a year.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (era * 400 + year + u64::from(month >= 10), if month < 10 { month + 3 } else { month - 9 });
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

/// Marks what the next request begins with, too: the tools, the system prompt, the user's last turns. Four are taken.
fn mark_for_cache(body: &mut Map<String, Value>, mark: &Value) {
    let put = |block: Option<&mut Value>| {
        if let Some(Value::Object(block)) = block {
            block.entry("cache_control").or_insert_with(|| mark.clone());
        }
    };
    if let Some(Value::Array(tools)) = body.get_mut("tools")
        && !tools.iter().any(|tool| tool.get("cache_control").is_some())
    {
        // The provider's own tools are short, and stand behind the others.
        put(tools.iter_mut().rev().find(|tool| tool.get("input_schema").is_some()));
    }
    if let Some(Value::Array(system)) = body.get_mut("system") {
        put(system.last_mut());
    }
    if let Some(Value::Array(messages)) = body.get_mut("messages") {
        let turns = messages.iter_mut().rev().filter(|message| message["role"] == "user");
        for turn in turns.take(MARKED_TURNS) {
            put(turn["content"].as_array_mut().and_then(|blocks| blocks.last_mut()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_a_time_of_the_calendar() {
        assert_eq!(utc(0), "1970-01-01T00:00:00");
        assert_eq!(utc(951_782_399), "2000-02-28T23:59:59");
        assert_eq!(utc(951_868_800), "2000-03-01T00:00:00");
        assert_eq!(utc(1_796_089_150), "2026-12-01T01:39:10");
    }
}
