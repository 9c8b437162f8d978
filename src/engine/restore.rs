//! A chat that was saved: its history, how its calls looked, and what is told of those that an end of the editor cut short.
//! How it is read from a file is `saved.rs`; how it comes back into a chat, `chat/comeback.rs`.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::message::History;
use crate::tool::shown;

/// How a call that is over looked in the buffer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// What its icon stands for: a word of the user interface.
    #[serde(default)]
    pub state: String,
    /// Its line; empty: made of the call.
    #[serde(default)]
    pub head: String,
    /// What the right edge says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact: Option<String>,
    /// What stands below.
    #[serde(default, skip_serializing_if = "Body::is_nothing")]
    pub body: Body,
}

/// What the user sees below a call's line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// Nothing.
    #[default]
    Nothing,
    /// What the model got.
    Result,
    /// Something else.
    Text(String),
}

impl Body {
    fn is_nothing(&self) -> bool {
        *self == Self::Nothing
    }
}

/// A chat as it was saved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Restored {
    /// What was said, paired.
    pub history: History,
    /// How calls looked, by their wire id.
    pub looks: HashMap<String, Look>,
    /// The newest message is what had arrived of an answer.
    pub interrupted: bool,
    /// Tools whose calls were not run.
    pub not_run: Vec<String>,
    /// Tools whose calls had started, and nobody knows what they did.
    pub unknown: Vec<String>,
    /// Lines of the file that could not be used.
    pub skipped: usize,
}

impl Restored {
    /// What the user must know; none: everything is as it was.
    pub(super) fn told(&self) -> Option<String> {
        let mut facts = Vec::new();
        if !self.unknown.is_empty() {
            let (calls, names) = named(&self.unknown);
            facts.push(format!("{calls} had started, and what was done is not known: {names}."));
        }
        if !self.not_run.is_empty() {
            let (calls, names) = named(&self.not_run);
            let verb = if self.not_run.len() == 1 { "was" } else { "were" };
            facts.push(format!("{calls} {verb} not run: {names}."));
        }
        if self.interrupted {
            facts.push("The last answer is incomplete.".to_owned());
        }
        if self.skipped > 0 {
            let lines = if self.skipped == 1 { "line" } else { "lines" };
            facts.push(format!("{} {lines} of its file could not be read.", self.skipped));
        }
        (!facts.is_empty()).then(|| format!("The chat was interrupted. {}", facts.join(" ")))
    }
}

/// How many calls, and the names of their tools.
fn named(tools: &[String]) -> (String, String) {
    /// So many names are told.
    const MAX_NAMES: usize = 5;
    let mut seen = HashSet::new();
    let names: Vec<_> = tools.iter().filter(|name| seen.insert(name.as_str())).map(|name| shown(name)).collect();
    let more = names.len().saturating_sub(MAX_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let calls = if tools.len() == 1 { "call" } else { "calls" };
    (format!("{} {calls}", tools.len()), names[..names.len().min(MAX_NAMES)].join(", ") + &more)
}
