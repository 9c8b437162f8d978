//! Where a call is, and why one ends.

use std::sync::Arc;

use serde_json::Value;

use crate::engine::effect::KillReason;
use crate::engine::outcome::Outcome;
use crate::gate::approvals::{Approval, Scope};
use crate::gate::verdict::Denial;
use crate::gate::{Fact, Facts};
use crate::message::Message;
use crate::tool::{CallStatus, Defined, GateSettings, OwnApproval, Preparation};

/// What a finished call says to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// How it ended.
    pub status: CallStatus,
    /// What the history gets.
    pub message: Arc<Message>,
}

/// Where a call is. It moves in one way: the stage is taken, and what is done with it gives the next.
#[derive(Clone, Debug, Default)]
pub enum Stage {
    /// Waits for its turn. An error is what the model is told instead of running it.
    Queued(Result<Value, String>),
    /// Lua makes its copy. The reply always comes; an abort waits for it, since `setup` may need its `on_exit`.
    Preparing { started_ms: u64, abort: Option<Abort> },
    /// The gate waits for a fact. An abort may arrive before it.
    Deciding { prepared: Prepared, facts: Facts, fact: Fact, since_ms: u64 },
    /// The user is asked; the clock stands still. *Always accept* remembers `remember`.
    Asking { prepared: Prepared, since_ms: u64, remember: (Vec<Approval>, Scope) },
    /// A cmd runs. `in_process`: as a command, whose end is reported in any case.
    Running { prepared: Prepared, cmd: usize, in_process: bool },
    /// The process of a cmd is being ended. What it printed belongs into the result.
    Stopping { prepared: Prepared, cmd: usize, abort: Abort, since_ms: u64 },
    /// An output function of a cmd that succeeded runs, more cmds may follow.
    Succeeding { prepared: Prepared, cmd: usize, abort: Option<Abort> },
    /// The last output function runs.
    Ending { prepared: Prepared, end: End },
    /// `on_exit` runs.
    Exiting { prepared: Prepared, end: End },
    /// The result is decided and too long; it is being shortened.
    Shortening { outcome: Outcome, duration_ms: u64 },
    /// It has its result.
    Finished(CallResult),
    /// Only while it moves. A panic on the way leaves it behind, and whatever happens next ends the call with an error.
    #[default]
    Lost,
}

/// What is known of a call that was prepared (or would have been, for one that is aborted in the queue).
#[derive(Clone, Debug)]
pub struct Prepared {
    pub preparation: Preparation,
    pub started_ms: u64,
    /// Time spent at the gate and in questions; the clock stands still there.
    pub asked_ms: u64,
}

impl Prepared {
    pub fn new(preparation: Preparation, started_ms: u64) -> Self {
        Self { preparation, started_ms, asked_ms: 0 }
    }

    /// For a call that has no copy of its tool.
    pub fn without_copy(started_ms: u64, defines: Defined) -> Self {
        let gate = GateSettings::new(OwnApproval::Run);
        let preparation = Preparation { cmds: Vec::new(), defines, gate, timeout_ms: None, changes: Vec::new() };
        Self::new(preparation, started_ms)
    }

    pub fn deadline_ms(&self) -> Option<u64> {
        self.preparation.timeout_ms.map(|limit| self.started_ms.saturating_add(limit).saturating_add(self.asked_ms))
    }
}

impl Stage {
    /// Whether texts and media that a tool adds still join its result.
    pub fn takes_output(&self) -> bool {
        match self {
            Self::Preparing { .. }
            | Self::Deciding { .. }
            | Self::Asking { .. }
            | Self::Running { .. }
            | Self::Stopping { .. }
            | Self::Succeeding { .. }
            | Self::Ending { .. }
            | Self::Exiting { .. } => true,
            Self::Queued(_) | Self::Shortening { .. } | Self::Finished(_) | Self::Lost => false,
        }
    }
}

#[allow(missing_docs, reason = "fields are told by the sentence of their variant")]
/// Why a call ends from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abort {
    /// The user cancelled this call or one before it.
    Cancelled,
    /// The chat was stopped.
    Stopped,
    /// The user ended this call only.
    Skipped,
    /// The time limit passed.
    TimedOut { limit_ms: u64 },
}

impl Abort {
    /// What jobs and commands are told.
    pub fn kill_reason(self) -> KillReason {
        match self {
            Self::TimedOut { limit_ms } => KillReason::TimedOut { limit_ms },
            Self::Cancelled | Self::Stopped | Self::Skipped => KillReason::User,
        }
    }
}

/// Who forbids a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Denied {
    /// A permission rule.
    ByRule(Denial),
    /// The user's own settings; the text says which.
    BySettings(String),
}

/// Why a call ends.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The last cmd succeeded.
    Success,
    /// Something failed. The text is ours; none: the tool's own error function speaks.
    Error(Option<String>),
    /// It is forbidden.
    Denied(Denied),
    /// The user said no.
    Rejected(Option<String>),
    /// It was ended from outside.
    Aborted(Abort),
}

impl End {
    /// What the call's result says.
    pub fn status(&self) -> CallStatus {
        match self {
            Self::Success => CallStatus::Success,
            Self::Error(_) => CallStatus::Error,
            Self::Denied(_) => CallStatus::Denied,
            Self::Rejected(_) => CallStatus::Rejected,
            Self::Aborted(Abort::Cancelled) => CallStatus::Cancelled,
            Self::Aborted(Abort::Stopped) => CallStatus::Stopped,
            Self::Aborted(Abort::Skipped) => CallStatus::Skipped,
            Self::Aborted(Abort::TimedOut { .. }) => CallStatus::TimedOut,
        }
    }
}
