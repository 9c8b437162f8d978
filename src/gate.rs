//! The gate: the one verdict on a call.

pub mod approvals;

/// Something a step of the gate needs to know and only Lua can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// The tool's own setting: a function in `require_approval_before`, or `handlers.prompt_condition`. True asks.
    OwnApproval,
}

/// Why the user is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What made it ask.
    pub cause: Cause,
    /// Whether *Always accept* is offered; it remembers (tool, `*`) in this chat.
    pub can_remember: bool,
}

/// What made the gate ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The third identical call in a row (step 2).
    DoomLoop,
    /// The tool's own setting (step 8).
    OwnApproval,
}
