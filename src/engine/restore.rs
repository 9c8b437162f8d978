//! A chat that was saved: its history, how its calls looked, and what is told of those that an end of the editor cut short.
//! How it is read from a file is `saved.rs`; how it comes back into a chat, `chat/comeback.rs`.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::message::History;

/// How a call that is over looked in the buffer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// What its icon stands for: a word of the user interface, [`Look::NOT_RUN`] or [`Look::UNKNOWN`].
    #[serde(default)]
    pub state: String,
    /// Its line; empty: made of the call.
    #[serde(default)]
    pub head: String,
    /// What the right edge says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact: Option<String>,
    /// Files that hold the whole of what was cut of its output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What stands below.
    #[serde(default, skip_serializing_if = "Body::is_nothing")]
    pub body: Body,
}

impl Look {
    /// The state of a call that an interruption kept from running.
    pub const NOT_RUN: &str = "not_run";
    /// The state of a call of which nobody knows what it did.
    pub const UNKNOWN: &str = "unknown";
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

/// What is not as it was in a chat that comes back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interruption {
    /// Tools whose calls had started, and nobody knows what they did.
    pub unknown: Vec<String>,
    /// Tools whose calls were not run.
    pub not_run: Vec<String>,
    /// Whether the last answer is incomplete.
    pub incomplete: bool,
    /// Lines of the file that could not be read.
    pub skipped: usize,
}

impl Restored {
    /// What the user must know; none: everything is as it was.
    pub fn interruption(&self) -> Option<Interruption> {
        let Self { unknown, not_run, interrupted: incomplete, skipped, .. } = self;
        let found = Interruption {
            unknown: unknown.clone(),
            not_run: not_run.clone(),
            incomplete: *incomplete,
            skipped: *skipped,
        };
        (found != Interruption::default()).then_some(found)
    }
}
