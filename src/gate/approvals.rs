//! Remembered approvals: what the user answered with *Always accept*.

use std::collections::BTreeSet;

/// The tools that run without a question in one chat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approvals {
    tools: BTreeSet<String>,
}

impl Approvals {
    /// Remembers (tool, `*`).
    pub fn remember(&mut self, tool: &str) {
        self.tools.insert(tool.to_owned());
    }

    /// Whether every call of the tool is approved.
    pub fn covers(&self, tool: &str) -> bool {
        self.tools.contains(tool)
    }
}
