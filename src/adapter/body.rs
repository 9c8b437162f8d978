//! What the bodies of requests have in common: the tools, and how a history becomes turns. How each thing is spelled is the
//! codec's business.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::names::Names;
use super::request::{BuildInput, ToolDefinition};
use crate::message::{Attachment, Message};

/// Puts the tools into a body: what the adapter's own hook made, else those on offer and the provider's own. A tool that
/// would make the provider refuse the request is left out, and the faults say why (R047).
pub fn put_tools(
    body: &mut Map<String, Value>,
    input: &BuildInput<'_>,
    names: &Names,
    faults: &mut Vec<String>,
    describe: impl FnMut(&ToolDefinition, &str) -> Result<Value, String>,
    wrap: impl Fn(Vec<Value>) -> Vec<Value>,
) {
    match input.tools_override {
        Some(Value::Object(fields)) => {
            for (field, value) in fields {
                body.insert(field.clone(), value.clone());
            }
        }
        Some(tools) => drop(body.insert("tools".to_owned(), tools.clone())),
        None => {
            let described = described(input, names, faults, describe);
            let mut tools = if described.is_empty() { described } else { wrap(described) };
            tools.extend(input.extra_tools.iter().cloned());
            if !tools.is_empty() {
                body.insert("tools".to_owned(), Value::Array(tools));
            }
        }
    }
    // Providers refuse a list of no tools, and the empty Lua table may be an object.
    let has_none = match body.get("tools") {
        Some(Value::Array(tools)) => tools.is_empty(),
        Some(Value::Object(tools)) => tools.is_empty(),
        tools => matches!(tools, Some(Value::Null)),
    };
    if has_none {
        body.shift_remove("tools");
    }
}

fn described(
    input: &BuildInput<'_>,
    names: &Names,
    faults: &mut Vec<String>,
    mut describe: impl FnMut(&ToolDefinition, &str) -> Result<Value, String>,
) -> Vec<Value> {
    let own: HashSet<&str> =
        input.extra_tools.iter().filter_map(|tool| tool.get("name").and_then(Value::as_str)).collect();
    let mut offered = HashSet::new();
    let mut list = Vec::with_capacity(input.tools.len());
    for tool in input.tools {
        let name = names.wire(&tool.name);
        let described = if own.contains(name.as_ref()) {
            Err("the provider's own tool has the same name".to_owned())
        } else if offered.insert(&tool.name) {
            describe(tool, &name)
        } else {
            Err("another tool has the same name".to_owned())
        };
        match described {
            Ok(tool) => list.push(tool),
            Err(reason) => faults.push(format!("The tool \"{}\" is not offered: {reason}.", tool.name)),
        }
    }
    list
}

/// JSON text of arguments.
pub fn text(arguments: &str) -> Cow<'_, str> {
    if arguments.trim().is_empty() { Cow::Borrowed("{}") } else { Cow::Borrowed(arguments) }
}

/// The pictures of a message that the model may see.
pub fn pictures<'a>(message: &'a Message, input: &BuildInput<'_>) -> &'a [Attachment] {
    match message {
        Message::Tool { attachments, .. } | Message::User { attachments, .. } if input.vision => attachments,
        Message::Tool { .. } | Message::System { .. } | Message::User { .. } | Message::Llm { .. } => &[],
    }
}

/// What the user said, with a note for each picture that the model cannot see. (A result's text tells of its own.)
pub fn said<'a>(content: &'a str, attachments: &[Attachment], input: &BuildInput<'_>) -> Cow<'a, str> {
    if input.vision || attachments.is_empty() {
        return Cow::Borrowed(content);
    }
    let notes =
        attachments.iter().map(|picture| format!("\n[{}, not shown: this model takes no pictures]", picture.mime));
    Cow::Owned(content.to_owned() + &notes.collect::<String>())
}

/// A picture as a URL that holds it.
pub fn data_url(picture: &Attachment) -> String {
    format!("data:{};base64,{}", picture.mime, picture.data)
}

/// Said where a provider wants a turn of the user first, or one of the model between.
pub const FILLER: &str = "…";

/// Turns whose roles alternate.
#[derive(Debug, Default)]
pub struct Turns {
    turns: Vec<(&'static str, Vec<Value>)>,
}

impl Turns {
    /// Adds parts to the last turn when that has the role, else as a turn of their own. No parts are no turn.
    pub fn add(&mut self, role: &'static str, parts: Vec<Value>) {
        if parts.is_empty() {
            return;
        }
        match self.turns.last_mut() {
            Some((last, own)) if *last == role => own.extend(parts),
            _ => self.turns.push((role, parts)),
        }
    }

    /// Adds a turn of its own.
    pub fn push(&mut self, role: &'static str, parts: Vec<Value>) {
        if !parts.is_empty() {
            self.turns.push((role, parts));
        }
    }

    /// The turns; the first is the user's.
    pub fn finish(mut self, user: &'static str, filler: impl Fn() -> Value) -> Vec<(&'static str, Vec<Value>)> {
        if self.turns.first().is_some_and(|(role, _)| *role != user) {
            self.turns.insert(0, (user, vec![filler()]));
        }
        self.turns
    }
}
