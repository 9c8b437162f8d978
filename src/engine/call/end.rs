//! How a call ends: why, what its last functions are, and what there is to tell. The words are in `outcome.rs`.

use std::sync::Arc;

use super::{Abort, CallResult, Context, Denied, End, Prepared, Stage, ToolCall};
use crate::engine::effect::{CallEffect, Output};
use crate::engine::event::Report;
use crate::engine::outcome::{DefaultText, Outcome, timed_out};
use crate::error::OUR_FAULT;
use crate::message::{Attachment, Message};
use crate::tool::{CallStatus, Defined, KeptMedia};

impl End {
    /// What is said in the tool's place, where it says nothing. `adds`: the tool has added a result; `reports`: what its
    /// command printed, and how that ended, is told anyway.
    fn default_text(&self, defines: Defined, adds: bool, reports: bool) -> Option<DefaultText> {
        match self {
            // A tool that adds its result in a cmd speaks for itself: the default would only repeat that.
            Self::Success => (!defines.success && !adds).then_some(DefaultText::Executed),
            Self::Error(None) => (!defines.error).then_some(DefaultText::Failed),
            Self::Error(Some(_)) | Self::Denied(_) => None,
            Self::Rejected(reason) => (!defines.rejected).then(|| DefaultText::Rejected(reason.clone())),
            Self::Aborted(Abort::TimedOut { limit_ms }) => {
                (!defines.error).then(|| DefaultText::TimedOut((!reports).then_some(*limit_ms)))
            }
            Self::Aborted(Abort::Cancelled) => (!defines.cancelled).then_some(DefaultText::Cancelled),
            Self::Aborted(Abort::Stopped) => (!defines.cancelled).then_some(DefaultText::Stopped),
            // What was skipped is told by us: the model must see that the user ended it, whatever the tool would say.
            Self::Aborted(Abort::Skipped) => (!reports).then_some(DefaultText::Skipped),
        }
    }
}

impl ToolCall {
    /// Runs the output function that fits the end, if the tool defines it.
    pub(super) fn end(&mut self, ctx: &mut Context, prepared: Prepared, end: End, cmd: usize) -> Stage {
        let defines = prepared.preparation.defines;
        let output = match &end {
            End::Error(None) if defines.error => Some(Output::Error { cmd, message: None }),
            End::Aborted(Abort::TimedOut { limit_ms }) if defines.error => {
                // What the command printed comes with the same words; the tool's own function passes it on.
                let message = self.stopped.take().map_or_else(|| timed_out(*limit_ms), |report| report.text);
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

    /// Decides the result: what the tool added, what we must add, or what is said in its place.
    pub(super) fn conclude(&mut self, ctx: &mut Context, prepared: Prepared, end: End) -> Stage {
        let outcome = self.outcome(&end, prepared.preparation.defines);
        let content = outcome.text(&self.added, !self.media.is_empty());
        let duration_ms = ctx.now_ms.saturating_sub(prepared.started_ms).saturating_sub(prepared.asked_ms);
        // Here and nowhere else, so that one rule holds for every source, and for several texts of one call together.
        if ctx.settings.limits.are_exceeded_by(&content) || !self.media.is_empty() {
            let (limits, media) = (ctx.settings.limits.clone(), std::mem::take(&mut self.media));
            self.emit(ctx, CallEffect::Shorten { content, limits, media });
            return Stage::Shortening { outcome, duration_ms };
        }
        self.finish(ctx, outcome, content, Vec::new(), duration_ms)
    }

    fn outcome(&mut self, end: &End, defines: Defined) -> Outcome {
        let mut outcome = Outcome::new(end.status());
        match end {
            End::Error(Some(message)) | End::Denied(Denied::BySettings(message)) => {
                outcome.message = Some(message.clone());
            }
            End::Denied(Denied::ByRule(denial)) => outcome.denial = Some(denial.clone()),
            End::Success | End::Error(None) | End::Rejected(_) | End::Aborted(_) => {
                let default = end.default_text(defines, !self.added.is_empty(), self.stopped.is_some());
                // Without an output function the model still gets what its command printed: that is what it was called for.
                if let Some(DefaultText::Executed | DefaultText::Failed) = default
                    && !self.unsaid.is_empty()
                {
                    outcome.report = Some(std::mem::take(&mut self.unsaid).join("\n\n"));
                }
                outcome.is_unexplained = default == Some(DefaultText::Failed) && outcome.report.is_none();
                outcome.default_text = default.map(|default| default.text(&self.name));
            }
        }
        if let Some(Report { text, printed, files }) = self.stopped.take() {
            self.files.extend(files);
            outcome.report = Some(text);
            outcome.printed = Some(printed).filter(|printed| !printed.is_empty());
        }
        if outcome.is_silent() && self.added.is_empty() {
            outcome.default_text = Some(DefaultText::NoResult.text(&self.name));
        }
        outcome
    }

    /// The result is short enough now, and its media are kept.
    pub(super) fn shortened(
        &mut self,
        ctx: &mut Context,
        mut outcome: Outcome,
        duration_ms: u64,
        content: String,
        media: KeptMedia,
    ) -> Stage {
        let KeptMedia { notes, attachments } = media;
        outcome.media_notes = notes;
        let content = outcome.with_notes(content);
        self.finish(ctx, outcome, content, attachments, duration_ms)
    }

    /// For a call that never got to Lua.
    pub(super) fn refuse(&mut self, ctx: &mut Context, message: String) -> Stage {
        let outcome = Outcome { message: Some(message.clone()), ..Outcome::new(CallStatus::Error) };
        self.finish(ctx, outcome, message, Vec::new(), 0)
    }

    /// A panic left the call without a stage: its turn must not wait for it.
    pub(super) fn lost(&mut self, ctx: &mut Context) -> Stage {
        self.refuse(ctx, OUR_FAULT.to_owned())
    }

    fn finish(
        &mut self,
        ctx: &mut Context,
        mut outcome: Outcome,
        content: String,
        attachments: Vec<Attachment>,
        duration_ms: u64,
    ) -> Stage {
        let status = outcome.status;
        outcome.files = std::mem::take(&mut self.files);
        let (wire_id, is_error) = (self.wire_id.clone(), status.is_failure());
        let message = Arc::new(Message::Tool { wire_id, content, is_error, attachments });
        let changes = std::mem::take(&mut self.changes);
        let outcome = Box::new(outcome);
        let finished = CallEffect::FinishCall { outcome, changes, duration_ms, message: Arc::clone(&message) };
        self.emit(ctx, finished);
        Stage::Finished(CallResult { status, message })
    }
}
