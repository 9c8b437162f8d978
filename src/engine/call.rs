//! One tool call from the queue to its result: the state machine of a single call. Its stages are in `stage.rs`; what happens
//! at the gate is in `decide.rs`, how cmds run in `cmds.rs`, how it ends in `end.rs`.

mod cmds;
mod decide;
mod end;
mod stage;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
pub use stage::{Abort, CallResult, Denied, End};
use stage::{Prepared, Stage};

use crate::change::Change;
use crate::engine::effect::{CallEffect, ChatEffect, Effect, ignore_late};
use crate::engine::event::{CallEvent, ChatId, ChatSettings, Report};
use crate::gate::approvals::Approvals;
use crate::gate::{self, Fact, Facts, Found, Permissions};
use crate::media::Given;
use crate::tool::{CallId, Copying, Defined, shown};

/// What a call may touch while it handles an event.
pub struct Context<'a> {
    /// The chat of the call.
    pub chat: ChatId,
    /// The time of the event.
    pub now_ms: u64,
    /// How many calls wait behind the one that handles the event.
    pub rest: usize,
    /// What *Always accept* remembered.
    pub approvals: &'a mut Approvals,
    /// Whether the chat is in auto mode.
    pub auto: bool,
    /// The permission rules; none: they are not loaded yet.
    pub permissions: Option<&'a Arc<Permissions>>,
    /// What the chat was opened with.
    pub settings: &'a ChatSettings,
    /// Where effects go.
    pub effects: &'a mut Vec<Effect>,
}

impl Context<'_> {
    /// Adds an effect for the chat.
    pub fn emit(&mut self, effect: ChatEffect) {
        self.effects.push(Effect::chat(self.chat, effect));
    }
}

/// One call of a batch.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The call.
    pub id: CallId,
    /// The provider's id.
    pub wire_id: String,
    /// The tool's name.
    pub name: String,
    /// Whether it may overlap with neighbours.
    pub parallel: bool,
    /// Whether its tool shares its handlers among calls in a row.
    pub handlers_once: bool,
    /// Which of the batch's rows of calls that share their handlers it is in.
    pub row: Option<usize>,
    /// Whether it is the last of them: then `on_exit` is its duty.
    pub ends_row: bool,
    /// What the calls before it in the row hand on to it, and it to the next.
    pub carried: Carried,
    /// Equal for equal arguments.
    pub fingerprint: u64,
    /// How many times in a row the same call was made, this one included.
    pub repeated: u32,
    stage: Stage,
    /// Texts that the tool added for its result.
    added: Vec<String>,
    /// Pictures, sounds and files that it added.
    media: Vec<Given>,
    /// What it has done to files.
    changes: Vec<Change>,
    /// Files that hold the whole of what was cut of its output.
    files: Vec<PathBuf>,
    /// For cmds that are run outside of Lua.
    arguments: Option<Arc<Value>>,
    /// What there is to tell of a command that was ended.
    stopped: Option<Report>,
    /// The reports on commands that no output function has passed on.
    unsaid: Vec<String>,
}

/// What calls that share their handlers hand on from one to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// There is a copy of the tool that was set up.
    has_copy: bool,
    /// Its `on_exit` is still to run.
    on_exit: bool,
    /// A call was let through, so the next skip the tool's own question.
    waived: bool,
}

/// How long a command that is being ended may take before the call goes on without its output, in ms. Its group is
/// killed for good well before.
pub const STOP_LIMIT_MS: u64 = 3_000;

impl ToolCall {
    /// Keeps its arguments, for cmds that are run outside of Lua.
    pub fn keep_arguments(&mut self, arguments: Arc<Value>) {
        self.arguments = Some(arguments);
    }

    /// A call that waits for its turn. `arguments`: the checked arguments, or what the model is told instead.
    pub fn new(id: CallId, wire_id: String, name: String, fingerprint: u64, arguments: Result<Value, String>) -> Self {
        Self {
            id,
            wire_id,
            name,
            parallel: false,
            handlers_once: false,
            row: None,
            ends_row: false,
            carried: Carried::default(),
            fingerprint,
            repeated: 1,
            stage: Stage::Queued(arguments),
            added: Vec::new(),
            media: Vec::new(),
            changes: Vec::new(),
            files: Vec::new(),
            arguments: None,
            stopped: None,
            unsaid: Vec::new(),
        }
    }

    /// The result, once it is finished.
    pub fn result(&self) -> Option<&CallResult> {
        if let Stage::Finished(result) = &self.stage { Some(result) } else { None }
    }

    /// Whether a cmd of it runs, or is being ended.
    pub fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Running { .. } | Stage::Stopping { .. })
    }

    /// Whether the user is being asked about it.
    pub fn is_asking(&self) -> bool {
        matches!(self.stage, Stage::Asking { .. })
    }

    /// Whether the user may yet be asked about it, or is being asked. No other call starts meanwhile.
    pub fn is_undecided(&self) -> bool {
        matches!(self.stage, Stage::Preparing { .. } | Stage::Deciding { .. } | Stage::Asking { .. })
    }

    /// Whether it waits for its turn only to be refused.
    pub fn is_unusable(&self) -> bool {
        matches!(self.stage, Stage::Queued(Err(_)))
    }

    /// When this call must be looked at again.
    pub fn deadline_ms(&self) -> Option<u64> {
        match &self.stage {
            Stage::Deciding { since_ms, .. } => Some(since_ms + gate::FACT_LIMIT_MS),
            Stage::Running { prepared, .. } => prepared.deadline_ms(),
            Stage::Stopping { since_ms, .. } => Some(since_ms + STOP_LIMIT_MS),
            // Lua is at work, on the main loop, or the user: nothing else could go on meanwhile.
            Stage::Preparing { .. } | Stage::Asking { .. } | Stage::Succeeding { .. } => None,
            Stage::Ending { .. } | Stage::Exiting { .. } => None,
            Stage::Queued(_) | Stage::Shortening { .. } | Stage::Finished(_) => None,
            Stage::Lost => Some(0),
        }
    }

    /// Takes it from the queue.
    pub fn start(&mut self, ctx: &mut Context) {
        self.stage = match std::mem::take(&mut self.stage) {
            Stage::Queued(Ok(arguments)) => {
                let copying = match self.row {
                    None => Copying::Own,
                    Some(_) if self.carried.has_copy => Copying::Shared,
                    Some(_) => Copying::First,
                };
                self.emit(ctx, CallEffect::PrepareCall { arguments, copying });
                Stage::Preparing { started_ms: ctx.now_ms, abort: None }
            }
            Stage::Queued(Err(message)) => self.refuse(ctx, message),
            // It has started already.
            stage @ (Stage::Preparing { .. }
            | Stage::Deciding { .. }
            | Stage::Asking { .. }
            | Stage::Running { .. }
            | Stage::Stopping { .. }
            | Stage::Succeeding { .. }
            | Stage::Ending { .. }
            | Stage::Exiting { .. }
            | Stage::Shortening { .. }
            | Stage::Finished(_)) => stage,
            Stage::Lost => self.lost(ctx),
        };
    }

    /// Moves on with what happened. All transitions that an event can cause stand here; what fits none came too late.
    pub fn handle(&mut self, ctx: &mut Context, event: CallEvent) {
        self.stage = match (std::mem::take(&mut self.stage), event) {
            (Stage::Preparing { started_ms, abort }, CallEvent::Prepared(preparation)) => {
                self.prepared(ctx, Prepared::new(preparation, started_ms), abort)
            }
            (Stage::Preparing { started_ms, abort }, CallEvent::NotPrepared { message, on_exit }) => {
                let end = abort.map_or(End::Error(Some(message)), End::Aborted);
                let defines = Defined { on_exit, ..Defined::default() };
                self.exit(ctx, Prepared::without_copy(started_ms, defines), end)
            }
            (Stage::Preparing { started_ms, abort }, CallEvent::Denied { message }) => {
                let end = abort.map_or(End::Denied(Denied::BySettings(message)), End::Aborted);
                self.conclude(ctx, Prepared::without_copy(started_ms, Defined::default()), end)
            }
            (Stage::Deciding { prepared, facts, fact: needed, since_ms }, CallEvent::FactFound { fact, found })
                if needed == fact =>
            {
                self.fact_found(ctx, (prepared, facts, since_ms), fact, found)
            }
            (Stage::Asking { prepared, since_ms, remember }, CallEvent::Answered(answer)) => {
                self.answered(ctx, prepared, since_ms, remember, answer)
            }
            (Stage::Running { prepared, cmd: running, .. }, CallEvent::CmdFinished { cmd, succeeded })
                if running == cmd =>
            {
                self.cmd_finished(ctx, prepared, cmd, succeeded)
            }
            (Stage::Running { prepared, cmd: running, .. }, CallEvent::CommandStarted { cmd }) if running == cmd => {
                Stage::Running { prepared, cmd, in_process: true }
            }
            (Stage::Running { prepared, cmd: running, .. }, CallEvent::CommandFinished { cmd, succeeded, report })
                if running == cmd =>
            {
                self.command_finished(ctx, prepared, cmd, succeeded, report)
            }
            (Stage::Stopping { prepared, cmd: running, abort, .. }, CallEvent::CommandFinished { cmd, report, .. })
                if running == cmd =>
            {
                self.command_stopped(ctx, prepared, cmd, abort, report)
            }
            (Stage::Succeeding { prepared, cmd, abort }, CallEvent::OutputFinished(outcome)) => {
                self.success_told(ctx, prepared, cmd, abort, outcome)
            }
            (Stage::Ending { prepared, end }, CallEvent::OutputFinished(outcome)) => {
                self.end_told(ctx, prepared, end, outcome)
            }
            (Stage::Exiting { prepared, end }, CallEvent::ExitFinished) => self.conclude(ctx, prepared, end),
            (Stage::Shortening { outcome, duration_ms }, CallEvent::Shortened { content, file, media }) => {
                self.files.extend(file);
                self.shortened(ctx, outcome, duration_ms, content, media)
            }
            (stage, CallEvent::OutputAdded { content }) if stage.takes_output() => {
                self.added.push(content);
                stage
            }
            (stage, CallEvent::MediaAdded(media)) if stage.takes_output() => {
                self.media.push(media);
                stage
            }
            (stage, CallEvent::ChangeMade(change)) if stage.takes_output() => {
                self.changes.push(change);
                stage
            }
            (Stage::Lost, _) => self.lost(ctx),
            (stage, _late) => {
                let name = shown(&self.name);
                ignore_late(ctx.effects, format_args!("for call {} of tool {name}", self.id.0));
                stage
            }
        };
    }

    /// Ends it from outside, wherever it is. A call that is ending already goes on to its end.
    pub fn abort(&mut self, ctx: &mut Context, why: Abort) {
        self.stage = match std::mem::take(&mut self.stage) {
            Stage::Queued(_) => {
                // Its `output.cancelled` still speaks, though nothing of it was set up.
                let defines = Defined { cancelled: true, ..Defined::default() };
                self.end(ctx, Prepared::without_copy(ctx.now_ms, defines), End::Aborted(why), 0)
            }
            Stage::Preparing { started_ms, abort: _ } => Stage::Preparing { started_ms, abort: Some(why) },
            Stage::Succeeding { prepared, cmd, abort: _ } => Stage::Succeeding { prepared, cmd, abort: Some(why) },
            Stage::Deciding { prepared, fact, .. } => {
                if fact == Fact::Judge {
                    self.emit(ctx, CallEffect::EndJudge { judged: None });
                }
                self.end(ctx, prepared, End::Aborted(why), 0)
            }
            Stage::Asking { prepared, .. } => {
                self.emit(ctx, CallEffect::CloseQuestion);
                self.end(ctx, prepared, End::Aborted(why), 0)
            }
            Stage::Running { prepared, cmd, in_process } => {
                self.emit(ctx, CallEffect::KillJobs { why: why.kill_reason() });
                if in_process {
                    Stage::Stopping { prepared, cmd, abort: why, since_ms: ctx.now_ms }
                } else {
                    self.end(ctx, prepared, End::Aborted(why), cmd)
                }
            }
            Stage::Stopping { prepared, cmd, abort, since_ms } => {
                // A stop after a skip is a stop, not the other way round.
                let abort = if why == Abort::Stopped { why } else { abort };
                Stage::Stopping { prepared, cmd, abort, since_ms }
            }
            stage @ (Stage::Ending { .. } | Stage::Exiting { .. } | Stage::Shortening { .. } | Stage::Finished(_)) => {
                stage
            }
            Stage::Lost => self.lost(ctx),
        };
    }

    /// Looks at its clock.
    pub fn time_passed(&mut self, ctx: &mut Context) {
        if self.deadline_ms().is_none_or(|deadline_ms| deadline_ms > ctx.now_ms) {
            return;
        }
        match &self.stage {
            Stage::Deciding { fact, .. } => {
                let (fact, found) = (*fact, decide::late(*fact));
                self.handle(ctx, CallEvent::FactFound { fact, found });
            }
            Stage::Running { prepared, .. } => {
                let limit_ms = prepared.preparation.timeout_ms.unwrap_or_default();
                self.abort(ctx, Abort::TimedOut { limit_ms });
            }
            Stage::Stopping { cmd, .. } => {
                let event = CallEvent::CommandFinished { cmd: *cmd, succeeded: false, report: Report::default() };
                self.handle(ctx, event);
            }
            Stage::Lost => self.stage = self.lost(ctx),
            // They have no deadline.
            Stage::Queued(_) | Stage::Preparing { .. } | Stage::Asking { .. } | Stage::Succeeding { .. } => {}
            Stage::Ending { .. } | Stage::Exiting { .. } | Stage::Shortening { .. } | Stage::Finished(_) => {}
        }
    }

    /// The permission rules are there, or are others now.
    pub fn permissions_loaded(&mut self, ctx: &mut Context) {
        if matches!(self.stage, Stage::Deciding { fact: Fact::Rules, .. }) {
            self.handle(ctx, CallEvent::FactFound { fact: Fact::Rules, found: Some(Found::Rules) });
        }
    }

    /// Lua has made its copy.
    fn prepared(&mut self, ctx: &mut Context, prepared: Prepared, abort: Option<Abort>) -> Stage {
        if self.row.is_some() && !self.carried.has_copy {
            (self.carried.has_copy, self.carried.on_exit) = (true, prepared.preparation.defines.on_exit);
        }
        match abort {
            Some(why) => self.end(ctx, prepared, End::Aborted(why), 0),
            None => self.decide(ctx, prepared, Facts::default()),
        }
    }

    fn emit(&self, ctx: &mut Context, effect: CallEffect) {
        ctx.emit(ChatEffect::Call { call: self.id, effect });
    }
}
