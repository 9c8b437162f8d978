//! Why a call ends, and what the model is told where its tool says nothing. When it ends is decided in `call.rs`.

use crate::engine::effect::KillReason;
use crate::tool::{CallStatus, Defined};

#[allow(missing_docs, reason = "fields are told by the sentence of their variant")]
/// Why a call ends.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The last cmd succeeded.
    Success,
    /// Something failed. The text is ours; none: the tool's own error function speaks.
    Error(Option<String>),
    /// A permission rule, or a function of the user, forbids it; the text tells which.
    Denied(String),
    /// The user said no.
    Rejected(Option<String>),
    /// The user cancelled this call or one before it.
    Cancelled,
    /// The chat was stopped.
    Stopped,
    /// The user ended this call only.
    Skipped,
    /// The time limit passed; the limit in ms.
    TimedOut(u64),
}

impl End {
    /// What jobs and commands are told.
    pub fn kill_reason(&self) -> KillReason {
        match *self {
            Self::TimedOut(limit_ms) => KillReason::TimedOut { limit_ms },
            Self::Success | Self::Error(_) | Self::Denied(_) | Self::Rejected(_) => KillReason::User,
            Self::Cancelled | Self::Stopped | Self::Skipped => KillReason::User,
        }
    }

    /// What the call's result says.
    pub fn status(&self) -> CallStatus {
        match self {
            Self::Success => CallStatus::Success,
            Self::Error(_) => CallStatus::Error,
            Self::Denied(_) => CallStatus::Denied,
            Self::Rejected(_) => CallStatus::Rejected,
            Self::Cancelled => CallStatus::Cancelled,
            Self::Stopped => CallStatus::Stopped,
            Self::Skipped => CallStatus::Skipped,
            Self::TimedOut(_) => CallStatus::TimedOut,
        }
    }

    /// Our words for the model where the tool has none of its own. `printed`: what its command printed, and how that ended,
    /// is told anyway.
    pub fn words(&self, defines: Defined, name: &str, printed: bool) -> Option<String> {
        match self {
            Self::Success if !defines.success => Some(format!("Executed {name}")),
            Self::Error(Some(message)) | Self::Denied(message) => Some(message.clone()),
            Self::Error(None) if !defines.error => Some(format!("Error calling {name}")),
            Self::TimedOut(_) if !defines.error && printed => Some(format!("Error calling {name}")),
            Self::TimedOut(limit_ms) if !defines.error => {
                Some(format!("Error calling {name}: it {}", timed_out(*limit_ms)))
            }
            Self::Rejected(reason) if !defines.rejected => Some(match reason {
                Some(reason) => format!("The user rejected the {name} tool: {reason}"),
                None => format!("The user rejected the {name} tool"),
            }),
            Self::Cancelled if !defines.cancelled => Some(format!("The user cancelled the {name} tool")),
            Self::Stopped if !defines.cancelled => {
                Some(format!("The user stopped the chat before the {name} tool was done"))
            }
            Self::Skipped if printed => None,
            Self::Skipped => Some(format!("Stopped by the user before the {name} tool was done")),
            Self::Success | Self::Error(None) | Self::TimedOut(_) => None,
            Self::Rejected(_) | Self::Cancelled | Self::Stopped => None,
        }
    }
}

/// How a time limit is told.
pub fn timed_out(limit_ms: u64) -> String {
    format!("timed out after {limit_ms} ms")
}
