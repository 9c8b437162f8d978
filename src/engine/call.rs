//! One tool call from the queue to its result: the state machine of a single call.

mod decide;
mod end;

use std::sync::Arc;

pub use end::End;
use end::timed_out;
use serde_json::Value;

use crate::engine::effect::{Effect, LogLevel, Output};
use crate::engine::event::{ChatId, ChatSettings, OutputOutcome};
use crate::gate::approvals::{Approval, Approvals, Scope};
use crate::gate::{self, Fact, Facts, Permissions};
use crate::media::Given;
use crate::message::{Attachment, Message};
use crate::tool::{CallId, CallStatus, Copying, Defined, GateSettings, KeptMedia, OwnApproval, Preparation, shown};

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
    /// Adds an effect.
    pub fn emit(&mut self, effect: Effect) {
        self.effects.push(effect);
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
    /// Which of the batch's runs of calls that share their handlers it is in.
    pub run: Option<usize>,
    /// Whether it is the last of them: then `on_exit` is its duty.
    pub ends_run: bool,
    /// What the calls before it in the run hand on to it, and it to the next.
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
    /// Pictures for the model, once they are kept.
    attachments: Vec<Attachment>,
    /// What is told of a command that was ended, with what it had printed.
    printed: Option<String>,
    /// The texts of commands that no output function has passed on.
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

/// What a finished call says to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// How it ended.
    pub status: CallStatus,
    /// What the history gets.
    pub message: Arc<Message>,
}

#[derive(Clone, Debug)]
enum Stage {
    /// Waits for its turn. An error is what the model is told instead of running it.
    Queued(Result<Value, String>),
    /// Lua makes its copy. The reply always comes; a cut waits for it, since `setup` may need its `on_exit`.
    Preparing { started_ms: u64, cut: Option<End> },
    /// The gate waits for a fact. The reply to a synchronous question always comes; here too a cut may come first.
    Deciding { run: Run, facts: Facts, fact: Fact, since_ms: u64 },
    /// The user is asked; the clock stands still. *Always accept* remembers `remember`.
    Asking { run: Run, since_ms: u64, remember: (Vec<Approval>, Scope) },
    /// A cmd runs. `command`: in a process, whose end is reported in any case.
    Running { run: Run, cmd: usize, command: bool },
    /// The process of a cmd is being ended. What it printed belongs into the result.
    Stopping { run: Run, cmd: usize, end: End, since_ms: u64 },
    /// An output function of a cmd that succeeded runs, more cmds may follow.
    Succeeding { run: Run, cmd: usize, cut: Option<End> },
    /// The last output function runs.
    Ending { run: Run, end: End },
    /// `on_exit` runs.
    Exiting { run: Run, end: End },
    /// The result is decided and too long; it is being cut.
    Cutting { status: CallStatus, ours: Option<String>, duration_ms: u64 },
    /// It has its result.
    Finished(CallResult),
}

/// What is known of a call that was prepared (or would have been, for one cancelled in the queue).
#[derive(Clone, Copy, Debug)]
struct Run {
    preparation: Preparation,
    started_ms: u64,
    /// Time spent at the gate and in questions; the clock stands still there.
    asked_ms: u64,
}

impl Run {
    /// Of a call that has no copy of its tool.
    fn unprepared(started_ms: u64, defines: Defined) -> Self {
        let gate = GateSettings::new(OwnApproval::Run);
        Self { preparation: Preparation { cmds: 0, defines, gate, timeout_ms: None }, started_ms, asked_ms: 0 }
    }

    fn deadline_ms(&self) -> Option<u64> {
        self.preparation.timeout_ms.map(|limit| self.started_ms.saturating_add(limit).saturating_add(self.asked_ms))
    }
}

impl ToolCall {
    /// A call that waits for its turn. `arguments`: the checked arguments, or what the model is told instead.
    pub fn new(id: CallId, wire_id: String, name: String, fingerprint: u64, arguments: Result<Value, String>) -> Self {
        Self {
            id,
            wire_id,
            name,
            parallel: false,
            handlers_once: false,
            run: None,
            ends_run: false,
            carried: Carried::default(),
            fingerprint,
            repeated: 1,
            stage: Stage::Queued(arguments),
            added: Vec::new(),
            media: Vec::new(),
            attachments: Vec::new(),
            printed: None,
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
            Stage::Running { run, .. } => run.deadline_ms(),
            Stage::Stopping { since_ms, .. } => Some(since_ms + STOP_LIMIT_MS),
            // Lua is at work, on the main loop, or the user: nothing else could go on meanwhile.
            Stage::Preparing { .. } | Stage::Asking { .. } | Stage::Succeeding { .. } => None,
            Stage::Ending { .. } | Stage::Exiting { .. } => None,
            Stage::Queued(_) | Stage::Cutting { .. } | Stage::Finished(_) => None,
        }
    }

    /// Takes it from the queue.
    pub fn start(&mut self, ctx: &mut Context) {
        let Stage::Queued(arguments) = &mut self.stage else { return };
        match std::mem::replace(arguments, Ok(Value::Null)) {
            Ok(arguments) => {
                self.stage = Stage::Preparing { started_ms: ctx.now_ms, cut: None };
                let copying = match self.run {
                    None => Copying::Own,
                    Some(_) if self.carried.has_copy => Copying::Shared,
                    Some(_) => Copying::First,
                };
                ctx.emit(Effect::PrepareCall { chat: ctx.chat, call: self.id, arguments, copying });
            }
            Err(message) => self.finish(ctx, ctx.now_ms, CallStatus::Error, message),
        }
    }

    /// Lua has made its copy.
    pub fn prepared(&mut self, ctx: &mut Context, preparation: Preparation) {
        let Stage::Preparing { started_ms, cut } = &mut self.stage else { return self.ignore_late(ctx) };
        let run = Run { preparation, started_ms: *started_ms, asked_ms: 0 };
        if self.run.is_some() && !self.carried.has_copy {
            (self.carried.has_copy, self.carried.on_exit) = (true, preparation.defines.on_exit);
        }
        match cut.take() {
            Some(end) => self.end(ctx, run, end, 0),
            None => self.decide(ctx, run, Facts::default()),
        }
    }

    /// Lua could not make its copy.
    pub fn not_prepared(&mut self, ctx: &mut Context, message: String, on_exit: bool) {
        let Stage::Preparing { started_ms, cut } = &mut self.stage else { return self.ignore_late(ctx) };
        let (started_ms, end) = (*started_ms, cut.take().unwrap_or(End::Error(Some(message))));
        self.exit(ctx, Run::unprepared(started_ms, Defined { on_exit, ..Defined::default() }), end);
    }

    /// The user's own settings forbid it.
    pub fn denied(&mut self, ctx: &mut Context, message: String) {
        let Stage::Preparing { started_ms, cut } = &mut self.stage else { return self.ignore_late(ctx) };
        let (started_ms, end) = (*started_ms, cut.take().unwrap_or(End::Denied(message)));
        self.conclude(ctx, Run::unprepared(started_ms, Defined::default()), end);
    }

    fn run(&mut self, ctx: &mut Context, run: Run, cmd: usize) {
        if cmd < run.preparation.cmds {
            self.stage = Stage::Running { run, cmd, command: false };
            ctx.emit(Effect::RunCmd { chat: ctx.chat, call: self.id, cmd });
        } else {
            self.exit(ctx, run, End::Success);
        }
    }

    /// A function of the cmds has its result, or a command could not even start.
    pub fn cmd_finished(&mut self, ctx: &mut Context, finished: usize, succeeded: bool) {
        // It had the text of the command before it as its input, and stands for it.
        self.unsaid.clear();
        self.proceed(ctx, finished, succeeded);
    }

    fn proceed(&mut self, ctx: &mut Context, finished: usize, succeeded: bool) {
        match self.stage {
            Stage::Running { run, cmd, .. } if cmd == finished => {
                if !succeeded {
                    self.end(ctx, run, End::Error(None), cmd);
                } else if run.preparation.defines.success {
                    self.stage = Stage::Succeeding { run, cmd, cut: None };
                    ctx.emit(Effect::RunOutput { chat: ctx.chat, call: self.id, output: Output::Success { cmd } });
                } else {
                    self.run(ctx, run, cmd + 1);
                }
            }
            _ => self.ignore_late(ctx),
        }
    }

    /// The cmd runs in a process.
    pub fn command_started(&mut self, ctx: &mut Context, started: usize) {
        match &mut self.stage {
            Stage::Running { cmd, command, .. } if *cmd == started => *command = true,
            _ => self.ignore_late(ctx),
        }
    }

    /// The process is over.
    pub fn command_finished(&mut self, ctx: &mut Context, finished: usize, succeeded: bool, text: String) {
        match &mut self.stage {
            Stage::Running { run, cmd, .. } if *cmd == finished => {
                let defines = run.preparation.defines;
                if !succeeded {
                    self.unsaid.clear();
                }
                if !(if succeeded { defines.success } else { defines.error }) {
                    self.unsaid.push(text.clone());
                }
                ctx.emit(Effect::StoreText { chat: ctx.chat, call: self.id, cmd: finished, succeeded, text });
                self.proceed(ctx, finished, succeeded);
            }
            Stage::Stopping { run, cmd, end, .. } if *cmd == finished => {
                let (run, end) = (*run, std::mem::replace(end, End::Success));
                self.printed = Some(text).filter(|text| !text.is_empty());
                self.end(ctx, run, end, finished);
            }
            _ => self.ignore_late(ctx),
        }
    }

    /// The tool added text for its result. Dropped once the result is decided.
    pub fn output_added(&mut self, ctx: &mut Context, content: String) {
        match self.stage {
            Stage::Cutting { .. } | Stage::Finished(_) | Stage::Queued(_) => self.ignore_late(ctx),
            Stage::Preparing { .. }
            | Stage::Deciding { .. }
            | Stage::Asking { .. }
            | Stage::Running { .. }
            | Stage::Stopping { .. }
            | Stage::Succeeding { .. }
            | Stage::Ending { .. }
            | Stage::Exiting { .. } => self.added.push(content),
        }
    }

    /// The tool added a picture, a sound or a file for its result.
    pub fn media_added(&mut self, ctx: &mut Context, media: Given) {
        match self.stage {
            Stage::Cutting { .. } | Stage::Finished(_) | Stage::Queued(_) => self.ignore_late(ctx),
            Stage::Preparing { .. }
            | Stage::Deciding { .. }
            | Stage::Asking { .. }
            | Stage::Running { .. }
            | Stage::Stopping { .. }
            | Stage::Succeeding { .. }
            | Stage::Ending { .. }
            | Stage::Exiting { .. } => self.media.push(media),
        }
    }

    /// An output function is over.
    pub fn output_finished(&mut self, ctx: &mut Context, outcome: OutputOutcome) {
        match &mut self.stage {
            Stage::Succeeding { run, cmd, cut } => {
                let (run, cmd, cut) = (*run, *cmd, cut.take());
                match (outcome, cut) {
                    (OutputOutcome::Threw(error), _) => self.exit(ctx, run, End::Error(Some(self.threw(&error)))),
                    (OutputOutcome::Ran | OutputOutcome::Undefined, Some(end)) => self.end(ctx, run, end, cmd),
                    (OutputOutcome::Ran | OutputOutcome::Undefined, None) => self.run(ctx, run, cmd + 1),
                }
            }
            Stage::Ending { run, end } => {
                let (mut run, mut end) = (*run, std::mem::replace(end, End::Success));
                match outcome {
                    OutputOutcome::Ran => {}
                    OutputOutcome::Undefined => run.preparation.defines.cancelled = false,
                    OutputOutcome::Threw(error) => {
                        let error = self.threw(&error);
                        if let End::Error(_) = end {
                            end = End::Error(Some(error));
                        } else {
                            self.added.push(error);
                        }
                    }
                }
                self.exit(ctx, run, end);
            }
            _ => self.ignore_late(ctx),
        }
    }

    fn threw(&self, error: &str) -> String {
        format!("An output function of the tool `{}` failed: {error}", self.name)
    }

    /// `on_exit` is over.
    pub fn exit_finished(&mut self, ctx: &mut Context) {
        match &mut self.stage {
            Stage::Exiting { run, end } => {
                let (run, end) = (*run, std::mem::replace(end, End::Success));
                self.conclude(ctx, run, end);
            }
            _ => self.ignore_late(ctx),
        }
    }

    /// Ends it from outside, wherever it is. A call that is ending already goes on to its end.
    pub fn cut(&mut self, ctx: &mut Context, why: End) {
        match &mut self.stage {
            Stage::Queued(_) => {
                // Its `output.cancelled` still speaks, though nothing of it was set up.
                let defines = Defined { cancelled: true, ..Defined::default() };
                self.end(ctx, Run::unprepared(ctx.now_ms, defines), why, 0);
            }
            Stage::Preparing { cut, .. } | Stage::Succeeding { cut, .. } => *cut = Some(why),
            Stage::Deciding { run, fact, .. } => {
                let (run, fact) = (*run, *fact);
                if fact == Fact::Judge {
                    ctx.emit(Effect::EndJudge { chat: ctx.chat, call: self.id, judged: None });
                }
                self.end(ctx, run, why, 0);
            }
            Stage::Asking { run, .. } => {
                let run = *run;
                ctx.emit(Effect::CloseQuestion { chat: ctx.chat, call: self.id });
                self.end(ctx, run, why, 0);
            }
            Stage::Running { run, cmd, command } => {
                let (run, cmd, command) = (*run, *cmd, *command);
                ctx.emit(Effect::KillJobs { chat: ctx.chat, call: self.id, why: why.kill_reason() });
                if command {
                    self.stage = Stage::Stopping { run, cmd, end: why, since_ms: ctx.now_ms };
                } else {
                    self.end(ctx, run, why, cmd);
                }
            }
            // A stop after a skip is a stop, not the other way round.
            Stage::Stopping { end, .. } if why == End::Stopped => *end = why,
            Stage::Stopping { .. } => {}
            Stage::Ending { .. } | Stage::Exiting { .. } | Stage::Cutting { .. } | Stage::Finished(_) => {}
        }
    }

    /// Looks at its clock.
    pub fn time_passed(&mut self, ctx: &mut Context) {
        if self.deadline_ms().is_none_or(|deadline_ms| deadline_ms > ctx.now_ms) {
            return;
        }
        match self.stage {
            Stage::Deciding { fact, .. } => self.fact_is_late(ctx, fact),
            Stage::Running { run, .. } => {
                self.cut(ctx, End::TimedOut(run.preparation.timeout_ms.unwrap_or_default()));
            }
            Stage::Stopping { cmd, .. } => self.command_finished(ctx, cmd, false, String::new()),
            // They have no deadline.
            Stage::Queued(_) | Stage::Preparing { .. } | Stage::Asking { .. } | Stage::Succeeding { .. } => {}
            Stage::Ending { .. } | Stage::Exiting { .. } | Stage::Cutting { .. } | Stage::Finished(_) => {}
        }
    }

    /// Runs the output function that fits the end, if the tool defines it.
    fn end(&mut self, ctx: &mut Context, run: Run, end: End, cmd: usize) {
        let defines = run.preparation.defines;
        let output = match &end {
            End::Error(None) if defines.error => Some(Output::Error { cmd, message: None }),
            End::TimedOut(limit_ms) if defines.error => {
                // What the command printed comes with the same words; the tool's own function passes it on.
                let message = self.printed.take().unwrap_or_else(|| timed_out(*limit_ms));
                Some(Output::Error { cmd, message: Some(message) })
            }
            End::Rejected(reason) if defines.rejected => Some(Output::Rejected { reason: reason.clone() }),
            End::Cancelled | End::Stopped if defines.cancelled => Some(Output::Cancelled),
            // What was skipped is told by us: the model must see that the user ended it, whatever the tool would say.
            End::Success | End::Error(_) | End::Denied(_) | End::TimedOut(_) | End::Rejected(_) => None,
            End::Cancelled | End::Stopped | End::Skipped => None,
        };
        match output {
            Some(output) => {
                self.stage = Stage::Ending { run, end };
                ctx.emit(Effect::RunOutput { chat: ctx.chat, call: self.id, output });
            }
            None => self.exit(ctx, run, end),
        }
    }

    fn exit(&mut self, ctx: &mut Context, run: Run, end: End) {
        // A copy that could not be set up is nobody's but its call's.
        let shared = self.run.is_some() && self.carried.has_copy;
        let is_due = if shared { self.ends_run && self.carried.on_exit } else { run.preparation.defines.on_exit };
        if is_due {
            self.carried.on_exit = false;
            self.stage = Stage::Exiting { run, end };
            ctx.emit(Effect::RunExit { chat: ctx.chat, call: self.id, shared });
        } else {
            self.conclude(ctx, run, end);
        }
    }

    /// Decides the result: what the tool added, what we must add, or the stand-in.
    fn conclude(&mut self, ctx: &mut Context, run: Run, end: End) {
        let defines = run.preparation.defines;
        let mut status = end.status();
        // A call that is cut in the queue may be one of a tool that does not exist.
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
        let duration_ms = ctx.now_ms.saturating_sub(run.started_ms).saturating_sub(run.asked_ms);
        // Here and nowhere else, so that one rule holds for every source, and for several texts of one call together.
        if ctx.settings.limits.are_exceeded_by(&content) || !self.media.is_empty() {
            self.stage = Stage::Cutting { status, ours, duration_ms };
            let (limits, media) = (ctx.settings.limits.clone(), std::mem::take(&mut self.media));
            ctx.emit(Effect::CutContent { chat: ctx.chat, call: self.id, content, limits, media });
            return;
        }
        self.finish_with(ctx, status, content, ours, duration_ms);
    }

    /// The result is short enough now, and its media are kept.
    pub fn content_cut(&mut self, ctx: &mut Context, content: String, media: KeptMedia) {
        let Stage::Cutting { status, ours, duration_ms } = &mut self.stage else { return self.ignore_late(ctx) };
        let (status, ours, duration_ms) = (*status, ours.take(), *duration_ms);
        let KeptMedia { notes, attachments } = media;
        let with_notes = |text: String| match &notes {
            Some(notes) if text.is_empty() => notes.clone(),
            Some(notes) => format!("{text}\n\n{notes}"),
            None => text,
        };
        let content = with_notes(content);
        let ours = ours.map(&with_notes).or_else(|| notes.clone());
        self.attachments = attachments;
        self.finish_with(ctx, status, content, ours, duration_ms);
    }

    /// For a call that never got to Lua.
    fn finish(&mut self, ctx: &mut Context, started_ms: u64, status: CallStatus, content: String) {
        let duration_ms = ctx.now_ms.saturating_sub(started_ms);
        self.finish_with(ctx, status, content.clone(), Some(content), duration_ms);
    }

    fn finish_with(
        &mut self,
        ctx: &mut Context,
        status: CallStatus,
        content: String,
        ours: Option<String>,
        duration_ms: u64,
    ) {
        let (wire_id, is_error) = (self.wire_id.clone(), status.is_failure());
        let attachments = std::mem::take(&mut self.attachments);
        let message = Arc::new(Message::Tool { wire_id, content, is_error, attachments });
        self.stage = Stage::Finished(CallResult { status, message: Arc::clone(&message) });
        let (chat, call) = (ctx.chat, self.id);
        ctx.emit(Effect::FinishCall { chat, call, status, content: ours, duration_ms, message });
    }

    fn ignore_late(&self, ctx: &mut Context) {
        let text = format!("a late event for call {} of tool {} was dropped", self.id.0, shown(&self.name));
        ctx.emit(Effect::Log { level: LogLevel::Debug, text });
    }
}
