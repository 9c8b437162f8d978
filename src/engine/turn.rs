//! One turn: from a prompt until the model asks for nothing more.

pub mod batch;

use std::sync::Arc;

use batch::Batch;
use serde_json::Value;

use crate::adapter::{EndReason, Item};
use crate::engine::event::RequestId;
use crate::message::Opaque;
use crate::tool::{CallId, OfferedTool};

/// Where a turn is.
#[derive(Clone, Debug, Default)]
pub enum Turn {
    /// No turn runs.
    #[default]
    Idle,
    /// The input is being read.
    TakingInput {
        /// In the middle of a turn, where empty input is fine.
        begun: bool,
        /// The user stopped meanwhile.
        stopped: bool,
    },
    /// The model answers.
    Answering(Answering),
    /// The calls of an answer, or requested ones, are being checked.
    Checking(Checking),
    /// Tools run.
    Running(Batch),
}

/// An answer as it arrives.
#[derive(Clone, Debug)]
pub struct Answering {
    /// The request it answers.
    pub request: RequestId,
    /// The tools that were offered; none until the request is on its way.
    pub tools: Arc<[OfferedTool]>,
    /// The text so far.
    pub content: String,
    /// The reasoning so far.
    pub reasoning: String,
    /// The calls so far.
    pub drafts: Vec<Draft>,
    /// What the provider wants back with it.
    pub opaque: Option<Opaque>,
    /// Tokens read and written.
    pub usage: Option<(u64, u64)>,
    /// Why the model stopped, once it did.
    pub end: Option<EndReason>,
}

/// A call as it arrives.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Tells the calls of one answer apart.
    pub index: usize,
    /// The provider's id, may be empty.
    pub wire_id: String,
    /// The tool's name.
    pub name: String,
    /// JSON text, so far.
    pub arguments: String,
    /// For the provider (`message::Call::extra`).
    pub extra: Option<Value>,
}

/// Calls whose arguments are being decoded and checked.
#[derive(Clone, Debug)]
pub struct Checking {
    /// The answer's text.
    pub content: String,
    /// The answer's reasoning.
    pub reasoning: String,
    /// What the provider wants back with it.
    pub opaque: Option<Opaque>,
    /// The calls with their ids; `Draft::index` is not used any more.
    pub calls: Vec<(CallId, Draft)>,
    /// The tools that were offered.
    pub tools: Arc<[OfferedTool]>,
    /// Whether the results are wanted by the model.
    pub submit: bool,
}

impl Answering {
    /// An answer of which nothing has arrived.
    pub fn new(request: RequestId) -> Self {
        Self {
            request,
            tools: Arc::from([]),
            content: String::new(),
            reasoning: String::new(),
            drafts: Vec::new(),
            opaque: None,
            usage: None,
            end: None,
        }
    }

    /// Takes one piece in. Returns false for a piece of a call that never began.
    pub fn take(&mut self, item: &Item) -> bool {
        match item {
            Item::Text(text) => self.content.push_str(text),
            Item::Reasoning(text) => self.reasoning.push_str(text),
            Item::CallStarted { index, wire_id, name } => self.drafts.push(Draft {
                index: *index,
                wire_id: wire_id.clone(),
                name: name.clone(),
                arguments: String::new(),
                extra: None,
            }),
            Item::CallArguments { index, text } => match self.draft(*index) {
                Some(draft) => draft.arguments.push_str(text),
                None => return false,
            },
            Item::CallExtra { index, extra } => match self.draft(*index) {
                Some(draft) => draft.add_extra(extra),
                None => return false,
            },
            Item::Usage { input, output } => self.usage = Some((*input, *output)),
            Item::End { reason } => self.end = Some(reason.clone()),
            Item::Opaque(opaque) => self.opaque = Some(opaque.clone()),
            // For the user to see, and what ends the request: the chat's business.
            Item::Ran(_) | Item::Failed(_) => {}
        }
        true
    }

    fn draft(&mut self, index: usize) -> Option<&mut Draft> {
        self.drafts.iter_mut().rev().find(|draft| draft.index == index)
    }
}

impl Draft {
    fn add_extra(&mut self, extra: &Value) {
        match (&mut self.extra, extra) {
            (Some(Value::Object(fields)), Value::Object(more)) => {
                fields.extend(more.iter().map(|(field, value)| (field.clone(), value.clone())));
            }
            (own, extra) => *own = Some(extra.clone()),
        }
    }
}

/// How much fenced JSON is looked at: this is done on the main loop, for a hint only.
const MAX_FENCED_BYTES: usize = 256 * 1024;

/// Whether a text without calls holds one in a fenced block, as small local models write it (R043).
pub fn looks_like_call(content: &str, tools: &[OfferedTool]) -> bool {
    let mut fenced = content.split("```").skip(1).step_by(2);
    let mut left = MAX_FENCED_BYTES;
    fenced.any(|block| {
        let json = block.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_').trim();
        if !json.starts_with('{') || json.len() > left {
            return false;
        }
        left -= json.len();
        let Ok(Value::Object(object)) = serde_json::from_str(json) else { return false };
        let named = |key: &str| object.get(key).and_then(|name| name.as_str());
        object.get("tool_calls").is_some_and(|calls| calls.is_array())
            || named("name").is_some_and(|name| {
                tools.iter().any(|tool| tool.name == name)
                    && (object.contains_key("arguments") || object.contains_key("parameters"))
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r043_a_call_in_a_fence_is_noticed_and_other_json_is_not() {
        let tools = [OfferedTool { name: "calculator".into(), ..OfferedTool::default() }];
        let t = |text: &str| looks_like_call(text, &tools);
        assert!(t("Sure:\n```json\n{\"tool_calls\": [{\"name\": \"calculator\"}]}\n```\n"));
        assert!(t("```\n{\"name\": \"calculator\", \"arguments\": {\"num1\": 1}}\n```"));
        assert!(t("```tool_call\n{\"name\": \"calculator\", \"parameters\": {}}\n```"));
        assert!(!t("```json\n{\"name\": \"lathe\", \"arguments\": {}}\n```"));
        assert!(!t("```json\n{\"name\": \"calculator\"}\n```"));
        assert!(!t("{\"tool_calls\": []}"));
        assert!(!t("no json at all ``` ```"));
    }

    #[test]
    fn r043_long_fenced_json_is_passed_over_and_a_call_behind_it_noticed() {
        let long = format!("```json\n{{\"tool_calls\": [{}0]}}\n```\n", "0, ".repeat(MAX_FENCED_BYTES / 3));
        assert!(!looks_like_call(&long, &[]));
        assert!(looks_like_call(&(long + "```\n{\"tool_calls\": []}\n```"), &[]));
        let many = "```\n{\"a\": 1}\n```\n".repeat(MAX_FENCED_BYTES / 8);
        assert!(!looks_like_call(&(many + "```\n{\"tool_calls\": []}\n```"), &[]));
    }
}
