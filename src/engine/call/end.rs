//! How a call ends: why, what its last functions are, and what the model is told where its tool says nothing.

use std::sync::Arc;

use super::{CallResult, Context, Prepared, Stage, ToolCall};
use crate::engine::effect::{CallEffect, KillReason, Output};
use crate::error::OUR_FAULT;
use crate::message::Message;
use crate::tool::{CallStatus, Defined, KeptMedia, shown};

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

    /// Our words for the model where the tool has none of its own. `printed`: what its command printed, and how that ended,
    /// is told anyway.
    pub fn words(&self, defines: Defined, name: &str, printed: bool) -> Option<String> {
        match self {
            Self::Success if !defines.success => Some(format!("Executed {name}")),
            Self::Error(Some(message)) | Self::Denied(message) => Some(message.clone()),
            Self::Error(None) if !defines.error => Some(format!("Error calling {name}")),
            Self::Aborted(Abort::TimedOut { .. }) if !defines.error && printed => Some(format!("Error calling {name}")),
            Self::Aborted(Abort::TimedOut { limit_ms }) if !defines.error => {
                Some(format!("Error calling {name}: it {}", timed_out(*limit_ms)))
            }
            Self::Rejected(reason) if !defines.rejected => Some(match reason {
                Some(reason) => format!("The user rejected the {name} tool: {reason}"),
                None => format!("The user rejected the {name} tool"),
            }),
            Self::Aborted(Abort::Cancelled) if !defines.cancelled => {
                Some(format!("The user cancelled the {name} tool"))
            }
            Self::Aborted(Abort::Stopped) if !defines.cancelled => {
                Some(format!("The user stopped the chat before the {name} tool was done"))
            }
            Self::Aborted(Abort::Skipped) if printed => None,
            Self::Aborted(Abort::Skipped) => Some(format!("Stopped by the user before the {name} tool was done")),
            Self::Success | Self::Error(None) | Self::Rejected(_) => None,
            Self::Aborted(Abort::TimedOut { .. } | Abort::Cancelled | Abort::Stopped) => None,
        }
    }
}

/// How a time limit is told.
fn timed_out(limit_ms: u64) -> String {
    format!("timed out after {limit_ms} ms")
}

impl ToolCall {
    /// Runs the output function that fits the end, if the tool defines it.
    pub(super) fn end(&mut self, ctx: &mut Context, prepared: Prepared, end: End, cmd: usize) -> Stage {
        let defines = prepared.preparation.defines;
        let output = match &end {
            End::Error(None) if defines.error => Some(Output::Error { cmd, message: None }),
            End::Aborted(Abort::TimedOut { limit_ms }) if defines.error => {
                // What the command printed comes with the same words; the tool's own function passes it on.
                let message = self.printed.take().unwrap_or_else(|| timed_out(*limit_ms));
                Some(Output::Error { cmd, message: Some(message) })
            }
            End::Rejected(reason) if defines.rejected => Some(Output::Rejected { reason: reason.clone() }),
            End::Aborted(Abort::Cancelled | Abort::Stopped) if defines.cancelled => Some(Output::Cancelled),
            // What was skipped is told by us: the model must see that the user ended it, whatever the tool would say.
            End::Success | End::Error(_) | End::Denied(_) | End::Rejected(_) | End::Aborted(_) => None,
        };
        match output {
            Some(output) => {
                self.emit(ctx, CallEffect::RunOutput { output });
                Stage::Ending { prepared, end }
            }
            None => self.exit(ctx, prepared, end),
        }
    }

    pub(super) fn exit(&mut self, ctx: &mut Context, prepared: Prepared, end: End) -> Stage {
        // A copy that could not be set up is nobody's but its call's.
        let shared = self.row.is_some() && self.carried.has_copy;
        let is_due = if shared { self.ends_row && self.carried.on_exit } else { prepared.preparation.defines.on_exit };
        if !is_due {
            return self.conclude(ctx, prepared, end);
        }
        self.carried.on_exit = false;
        self.emit(ctx, CallEffect::RunExit { shared });
        Stage::Exiting { prepared, end }
    }

    /// Decides the result: what the tool added, what we must add, or the stand-in.
    pub(super) fn conclude(&mut self, ctx: &mut Context, prepared: Prepared, end: End) -> Stage {
        let defines = prepared.preparation.defines;
        let mut status = end.status();
        // A call that is aborted in the queue may be one of a tool that does not exist.
        let name = shown(&self.name);
        let ours = end.words(defines, &name, self.printed.is_some());
        // A tool that adds its result in a cmd speaks for itself: the default of `success` would only repeat that.
        let ours = ours.filter(|_| end != End::Success || self.added.is_empty());
        // Without an output function the model still gets what its command printed: that is what it was called for.
        let ours = match (ours, &end) {
            (Some(ours), End::Success | End::Error(None)) if !self.unsaid.is_empty() => {
                let said = std::mem::take(&mut self.unsaid);
                Some(format!("{ours}\n\n{}", said.join("\n\n")))
            }
            (ours, _) => ours,
        };
        let ours = match (ours, self.printed.take()) {
            (Some(ours), Some(printed)) => Some(format!("{ours}\n\n{printed}")),
            (None, Some(printed)) => Some(printed),
            (None, None) if self.added.is_empty() => {
                if status == CallStatus::Success {
                    status = CallStatus::Error;
                }
                Some(format!("The call of the {name} tool did not complete: the tool gave no result"))
            }
            (ours, None) => ours,
        };
        self.added.extend(ours.clone());
        let content = match self.added.join("\n\n") {
            // The media speak for themselves.
            empty if empty.trim().is_empty() && !self.media.is_empty() => String::new(),
            empty if empty.trim().is_empty() => "(no output)".to_owned(),
            content => content,
        };
        let duration_ms = ctx.now_ms.saturating_sub(prepared.started_ms).saturating_sub(prepared.asked_ms);
        // Here and nowhere else, so that one rule holds for every source, and for several texts of one call together.
        if ctx.settings.limits.are_exceeded_by(&content) || !self.media.is_empty() {
            let (limits, media) = (ctx.settings.limits.clone(), std::mem::take(&mut self.media));
            self.emit(ctx, CallEffect::Shorten { content, limits, media });
            return Stage::Shortening { status, ours, duration_ms };
        }
        self.finish(ctx, status, content, ours, duration_ms)
    }

    /// The result is short enough now, and its media are kept.
    pub(super) fn shortened(
        &mut self,
        ctx: &mut Context,
        (status, ours, duration_ms): (CallStatus, Option<String>, u64),
        content: String,
        media: KeptMedia,
    ) -> Stage {
        let KeptMedia { notes, attachments } = media;
        let with_notes = |text: String| match &notes {
            Some(notes) if text.is_empty() => notes.clone(),
            Some(notes) => format!("{text}\n\n{notes}"),
            None => text,
        };
        let content = with_notes(content);
        let ours = ours.map(&with_notes).or_else(|| notes.clone());
        self.attachments = attachments;
        self.finish(ctx, status, content, ours, duration_ms)
    }

    /// For a call that never got to Lua.
    pub(super) fn refuse(&mut self, ctx: &mut Context, message: String) -> Stage {
        self.finish(ctx, CallStatus::Error, message.clone(), Some(message), 0)
    }

    /// A panic left the call without a stage: its turn must not wait for it.
    pub(super) fn lost(&mut self, ctx: &mut Context) -> Stage {
        self.refuse(ctx, OUR_FAULT.to_owned())
    }

    fn finish(
        &mut self,
        ctx: &mut Context,
        status: CallStatus,
        content: String,
        ours: Option<String>,
        duration_ms: u64,
    ) -> Stage {
        let (wire_id, is_error) = (self.wire_id.clone(), status.is_failure());
        let attachments = std::mem::take(&mut self.attachments);
        let message = Arc::new(Message::Tool { wire_id, content, is_error, attachments });
        self.emit(ctx, CallEffect::FinishCall { status, content: ours, duration_ms, message: Arc::clone(&message) });
        Stage::Finished(CallResult { status, message })
    }
}
