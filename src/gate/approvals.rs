//! Remembered approvals: what the user answered with *Always accept*. A tool, one of its commands letter by letter (R011),
//! or the pattern that the user has typed. Those of a project are kept in a file, which is the runtime's business.

use std::collections::BTreeMap;

use super::rule::{Action, Pattern};
use super::shell::{self, BASH};

/// How far an approval reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The chat, as long as it lives.
    Chat,
    /// Every chat in the project, also after a restart.
    Project,
}

impl Scope {
    /// The word that Lua uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Project => "project",
        }
    }
}

/// What may run without a question.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Approval {
    /// The tool's name, or the key of a permission rule.
    pub tool: String,
    /// The one value that may; none: every call of the tool.
    pub value: Option<String>,
    /// Whether `*` and `?` in the value are wildcards: only where the user has typed them.
    pub is_pattern: bool,
}

impl Approval {
    /// An approval of a whole tool, or of one value, letter by letter.
    pub fn new(tool: &str, value: Option<String>) -> Self {
        Self { tool: tool.to_owned(), value, is_pattern: false }
    }

    /// Whether this one, as it was given, covers what another is asked for.
    pub fn covers(&self, asked: &Self) -> bool {
        match (&self.value, &asked.value) {
            (Some(pattern), Some(value)) if self.is_pattern => {
                self.tool == asked.tool && takes(&self.tool, pattern, value)
            }
            _ => self == asked,
        }
    }
}

/// Whether a pattern that the user has typed covers a value: one line, and of shell texts only what can be understood.
fn takes(tool: &str, pattern: &str, value: &str) -> bool {
    let ends_line = |letter: char| (letter.is_control() && letter != '\t') || matches!(letter, '\u{2028}' | '\u{2029}');
    !value.contains(ends_line)
        && Pattern::key(pattern).matches(value, Action::Allow)
        && (tool != BASH || shell::is_understood(value))
}

/// The approvals of one chat, each with the time it was given at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approvals {
    tools: BTreeMap<String, Tool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Tool {
    since_ms: Option<u64>,
    values: BTreeMap<String, u64>,
    patterns: BTreeMap<String, u64>,
}

impl Approvals {
    /// Remembers an approval; one that was given before stays as old as it is.
    pub fn remember(&mut self, approval: Approval, now_ms: u64) {
        let tool = self.tools.entry(approval.tool).or_default();
        match approval.value {
            Some(pattern) if approval.is_pattern => drop(tool.patterns.entry(pattern).or_insert(now_ms)),
            Some(value) => drop(tool.values.entry(value).or_insert(now_ms)),
            None => drop(tool.since_ms.get_or_insert(now_ms)),
        }
    }

    /// Forgets an approval. False: it was not there.
    pub fn forget(&mut self, approval: &Approval) -> bool {
        let Some(tool) = self.tools.get_mut(&approval.tool) else { return false };
        let was_there = match &approval.value {
            Some(pattern) if approval.is_pattern => tool.patterns.remove(pattern).is_some(),
            Some(value) => tool.values.remove(value).is_some(),
            None => tool.since_ms.take().is_some(),
        };
        if tool.since_ms.is_none() && tool.values.is_empty() && tool.patterns.is_empty() {
            self.tools.remove(&approval.tool);
        }
        was_there
    }

    /// Whether anything of a tool is approved.
    pub fn knows(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// Whether this very approval was given. One of the whole tool says nothing about a command: that the user wants to be
    /// asked about each may be newer than it.
    pub fn cover(&self, approval: &Approval) -> bool {
        let Some(tool) = self.tools.get(&approval.tool) else { return false };
        match &approval.value {
            Some(value) => {
                tool.values.contains_key(value)
                    || tool.patterns.keys().any(|pattern| takes(&approval.tool, pattern, value))
            }
            None => tool.since_ms.is_some(),
        }
    }

    /// All of them, with the time of each.
    pub fn list(&self) -> Vec<(Approval, u64)> {
        let mut list = Vec::new();
        for (name, tool) in &self.tools {
            let approval = |value: Option<&String>| Approval::new(name, value.cloned());
            list.extend(tool.since_ms.map(|since_ms| (approval(None), since_ms)));
            list.extend(tool.values.iter().map(|(value, since_ms)| (approval(Some(value)), *since_ms)));
            let pattern = |value: &String| Approval { is_pattern: true, ..approval(Some(value)) };
            list.extend(tool.patterns.iter().map(|(value, since_ms)| (pattern(value), *since_ms)));
        }
        list
    }
}
