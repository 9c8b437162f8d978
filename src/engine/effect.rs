//! What to do: the effects of the engine, addressed like its events. Knows nothing of the machine.
//!
//! A new effect is a variant here, an arm in the performer (`bridge/perform.rs`), and a test.

use std::fmt::Display;
use std::sync::Arc;

use serde_json::Value;

use super::event::{
    Answer, CallEvent, ChatEvent, ChatId, Event, Failure, OutputOutcome, RequestEvent, RequestId, Retry, Saving,
};
use super::outcome::Outcome;
use super::restore::{Interruption, Look};
use crate::adapter::ProviderCall;
use crate::change::Change;
use crate::error::OUR_FAULT;
use crate::gate::approvals::Approval;
use crate::gate::judge::Judged;
use crate::gate::verdict::Question;
use crate::gate::{Fact, Permissions};
use crate::media::Given;
use crate::message::Message;
use crate::output::Limits;
use crate::tool::{CallId, Copying, Runner, UncheckedCall};

#[allow(missing_docs, reason = "fields are told by the sentence of their variant")]
/// Which output function to run.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// `output.success`, after cmd number `cmd` (from 0); its data joins `stdout`.
    Success { cmd: usize },
    /// `output.error`. `message`: an error of ours (a time limit), none: the data that the cmd gave joins `stderr`.
    Error { cmd: usize, message: Option<String> },
    /// `output.rejected`
    Rejected { reason: Option<String> },
    /// `output.cancelled`
    Cancelled,
}

/// Why a running call is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillReason {
    /// The user stopped, cancelled or skipped it.
    User,
    /// Its time limit passed.
    TimedOut {
        /// The limit.
        limit_ms: u64,
    },
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model asks for nothing more, or the calls asked for by `run_tool` are done.
    Done,
    /// The user stopped the chat.
    Stopped,
    /// The user cancelled at a question.
    Cancelled,
    /// The request failed.
    Failed,
    /// Results are there but not sent: `auto_submit_*` is off, or the model repeats a call that cannot run.
    Held,
}

#[allow(missing_docs, reason = "fields are told by the sentence of their variant")]
/// Something to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// For one chat.
    Addressed { chat: ChatId, effect: ChatEffect },
    /// Remember an approval for a project.
    SaveApproval { project: Arc<str>, approval: Approval },
    /// Tell the user something that went wrong and belongs to no chat.
    Tell { text: String },
    /// A line for the log.
    Log { level: LogLevel, text: String },
}

#[allow(missing_docs, reason = "fields are told by the sentence of their variant")]
/// Something to do for a chat.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEffect {
    /// Read the input and make it part of the conversation → [`ChatEvent::InputTaken`].
    TakeInput,
    /// The input waits for the running turn (true), or no longer does (false).
    HoldInput { waiting: bool },
    /// A turn begins.
    StartTurn,
    /// Send the history → every [`RequestEvent`], in the end [`RequestEvent::Finished`] or [`RequestEvent::Failed`].
    SendRequest { request: RequestId },
    /// End a request; nothing of it is wanted any more.
    AbortRequest { request: RequestId },
    /// The request is over. `usage`: tokens read and written, when the provider said so.
    FinishRequest { request: RequestId, failed: bool, usage: Option<(u64, u64)> },
    /// Show more of the model's text.
    ShowText { text: String },
    /// Show more of the model's reasoning.
    ShowReasoning { text: String },
    /// The provider has run a tool itself.
    ShowProviderCall(ProviderCall),
    /// A message joined the history. Calls of an `Llm` message follow as [`CallEffect::AddCall`].
    AddMessage { message: Arc<Message> },
    /// The newest message, a text of the model, is no part of the history any more.
    TakeBackMessage,
    /// Only the first `kept` messages are part of the history; the first of the others goes back into the input.
    TruncateHistory { kept: usize },
    /// A message of a saved chat. Calls of an `Llm` message follow as [`ChatEffect::RestoreCall`].
    RestoreMessage { message: Arc<Message> },
    /// A call of a saved chat: number `index` of `message`, with its result.
    RestoreCall { message: Arc<Message>, index: usize, result: Arc<Message>, look: Option<Look> },
    /// Decode and check arguments off the main loop → [`ChatEvent::CallsChecked`].
    CheckCalls { calls: Vec<UncheckedCall> },
    /// A batch of `calls` calls begins.
    StartBatch { calls: usize },
    /// Something to do for a call.
    Call { call: CallId, effect: CallEffect },
    /// The batch is over.
    FinishBatch { failed: bool },
    /// Tell the user something about this chat.
    Notify(Notice),
    /// The turn is over.
    FinishTurn { end: TurnEnd },
    /// The history is empty now.
    ClearChat,
    /// Forget the chat.
    CloseChat,
}

#[allow(missing_docs, reason = "fields are told by the sentence of their variant")]
/// Something to do for a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallEffect {
    /// It joined the last `Llm` message. `runs`: the tool that it names, when it is a call of the router.
    AddCall { wire_id: String, name: String, arguments: String, runs: Option<String> },
    /// Copy the tool, run `env` and `setup` → [`CallEvent::Prepared`], [`CallEvent::NotPrepared`] or [`CallEvent::Denied`].
    PrepareCall { arguments: Value, copying: Copying },
    /// Find what the gate needs, in Lua → [`CallEvent::FactFound`].
    FindFact { fact: Fact },
    /// Look the approval up in the project's → [`CallEvent::FactFound`].
    FindSaved { project: Arc<str>, approvals: Vec<Approval> },
    /// Load the permission rules → [`ChatEvent::PermissionsLoaded`]; [`CallEvent::FactFound`] when that fails.
    LoadPermissions,
    /// Find what the call wants and what these rules say to it → [`CallEvent::FactFound`].
    FindWants { permissions: Arc<Permissions> },
    /// Ask the judge about the call → [`CallEvent::FactFound`], later. [`CallEffect::EndJudge`] follows.
    AskJudge,
    /// The judge's verdict is there, or not wanted any more (none).
    EndJudge { judged: Option<Judged> },
    /// Ask the user → [`CallEvent::Answered`]. `changes`: what the call would do to files. `rest`: how many calls *Cancel*
    /// would end besides this one.
    AskApproval { question: Box<Question>, changes: Vec<Change>, rest: usize },
    /// The question is void.
    CloseQuestion,
    /// Run cmd number `cmd` (from 0) → [`CallEvent::CmdFinished`] or [`CallEvent::CommandStarted`]. The runner decides who
    /// performs it; `arguments` are for those outside of Lua.
    RunCmd { cmd: usize, runner: Runner, arguments: Option<Arc<Value>> },
    /// What ran outside of Lua gave this text; it is the data of its cmd.
    StoreText { cmd: usize, succeeded: bool, text: String },
    /// End what the call started.
    KillJobs { why: KillReason },
    /// Run an output function → [`CallEvent::OutputAdded`]…, [`CallEvent::OutputFinished`]. Also for a call that was still
    /// queued when it was cancelled; then it is copied first, without `env` and `setup`.
    RunOutput { output: Output },
    /// Run `handlers.on_exit` → [`CallEvent::ExitFinished`]. `shared`: of the copy that was kept ([`Copying::First`]).
    RunExit { shared: bool },
    /// Shorten a result that is too long, off the main loop, and save the whole of it and its media →
    /// [`CallEvent::Shortened`], always.
    Shorten { content: String, limits: Limits, media: Vec<Given> },
    /// The call is over. `changes`: what it has done to files. `message` is its result, which joins the history once those
    /// before it are there.
    FinishCall { outcome: Box<Outcome>, changes: Vec<Change>, duration_ms: u64, message: Arc<Message> },
}

/// Something the user should know.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// The request failed.
    RequestFailed(Failure),
    /// The request is not quite what was wanted; the text says why.
    Request(String),
    /// The request failed for now and is sent again; told anew with each attempt.
    Retrying(Retry),
    /// The input is empty and there is nothing to send again.
    NothingToSend,
    /// There is no call to skip.
    NothingToSkip,
    /// There is no message of the user to edit.
    NothingToEdit,
    /// What was asked for is only possible while no turn runs.
    StillRunning,
    /// Something of a saved chat is not as it was.
    Restored(Interruption),
    /// The chat is not saved, or is again.
    Saving(Saving),
    /// The limit on tokens cut the answer off.
    LengthStop,
    /// The provider's filter cut the answer off; what the provider says of that, may be empty.
    ContentFilter(String),
    /// The provider refuses to go on while this turn is in the history; what it says of that, may be empty.
    Refused(String),
    /// The answer ends for a reason that only the provider's own words tell.
    EndedFor(String),
    /// The model wrote a tool call as text; nothing was run (R043).
    CallAsText,
    /// The model repeats a call that cannot run, so nothing is sent (R153).
    RepeatedCall {
        /// The tool.
        name: String,
    },
}

/// How loud a log line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// Only for finding faults of ours.
    Debug,
    /// Something was dropped or repaired.
    Warn,
    /// A fault of ours.
    Error,
}

/// Where late and foreign events end: one that comes when nothing waits for it any more is dropped, with a line in the log.
pub fn ignore_late(effects: &mut Vec<Effect>, event: impl Display) {
    effects.push(Effect::Log { level: LogLevel::Debug, text: format!("a late event {event} was dropped") });
}

impl Effect {
    /// An effect for a chat.
    pub fn chat(chat: ChatId, effect: ChatEffect) -> Self {
        Self::Addressed { chat, effect }
    }

    /// An effect for a call of a chat.
    pub fn call(chat: ChatId, call: CallId, effect: CallEffect) -> Self {
        Self::chat(chat, ChatEffect::Call { call, effect })
    }

    /// The reply that keeps a chat going when its performer, for a fault of ours, gave none. None: nobody waits for one.
    pub fn reply_after_fault(&self) -> Option<Event> {
        match self {
            Self::Addressed { chat, effect } => effect.reply_after_fault().map(|event| Event::chat(*chat, event)),
            Self::SaveApproval { .. } | Self::Tell { .. } | Self::Log { .. } => None,
        }
    }

    /// Whether performing it may run code of tools, adapters or the user's configuration: what is asked for a reply may.
    pub fn runs_foreign_code(&self) -> bool {
        self.reply_after_fault().is_some()
    }
}

impl ChatEffect {
    fn reply_after_fault(&self) -> Option<ChatEvent> {
        match self {
            Self::TakeInput => Some(ChatEvent::InputTaken { text: None, typed: None }),
            Self::SendRequest { request } => {
                let event = RequestEvent::Failed(OUR_FAULT.to_owned().into());
                Some(ChatEvent::Request { request: *request, event })
            }
            Self::Call { call, effect } => {
                effect.reply_after_fault().map(|event| ChatEvent::Call { call: *call, event })
            }
            Self::HoldInput { .. }
            | Self::StartTurn
            | Self::AbortRequest { .. }
            | Self::FinishRequest { .. }
            | Self::ShowText { .. }
            | Self::ShowReasoning { .. }
            | Self::ShowProviderCall(_)
            | Self::AddMessage { .. }
            | Self::TakeBackMessage
            | Self::TruncateHistory { .. }
            | Self::RestoreMessage { .. }
            | Self::RestoreCall { .. }
            | Self::StartBatch { .. }
            | Self::FinishBatch { .. }
            | Self::Notify(_)
            | Self::FinishTurn { .. }
            | Self::ClearChat
            | Self::CloseChat => None,
            // The runtime replies in any case.
            Self::CheckCalls { .. } => None,
        }
    }
}

impl CallEffect {
    fn reply_after_fault(&self) -> Option<CallEvent> {
        let fault = || OUR_FAULT.to_owned();
        let not_found = |fact| Some(CallEvent::FactFound { fact, found: None });
        match self {
            Self::PrepareCall { .. } => Some(CallEvent::NotPrepared { message: fault(), on_exit: false }),
            Self::FindFact { fact } => not_found(*fact),
            Self::FindSaved { .. } => not_found(Fact::Saved),
            Self::LoadPermissions => not_found(Fact::Rules),
            Self::FindWants { .. } => not_found(Fact::Wants),
            Self::AskJudge => not_found(Fact::Judge),
            // Fail closed: a question that cannot be shown counts as rejected.
            Self::AskApproval { .. } => Some(CallEvent::Answered(Answer::Reject { reason: Some(fault()) })),
            Self::RunCmd { cmd, .. } => Some(CallEvent::CmdFinished { cmd: *cmd, succeeded: false }),
            Self::RunOutput { .. } => Some(CallEvent::OutputFinished(OutputOutcome::Threw(fault()))),
            Self::RunExit { .. } => Some(CallEvent::ExitFinished),
            Self::AddCall { .. }
            | Self::EndJudge { .. }
            | Self::CloseQuestion
            | Self::StoreText { .. }
            | Self::KillJobs { .. }
            | Self::FinishCall { .. } => None,
            // The runtime replies in any case.
            Self::Shorten { .. } => None,
        }
    }
}
