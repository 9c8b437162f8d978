//! What to do: the effects of the engine. Knows nothing of the machine.

use std::sync::Arc;

use serde_json::Value;

use super::event::{ChatId, RequestId, Retry};
use super::restore::Look;
use crate::adapter::ProviderCall;
use crate::gate::approvals::Approval;
use crate::gate::judge::Judged;
use crate::gate::{Fact, Permissions, Question};
use crate::media::Given;
use crate::message::Message;
use crate::output::Limits;
use crate::tool::{CallId, CallStatus, Copying, UncheckedCall};

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
/// Something to do. Performed in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Read the input and make it part of the conversation → [`Event::InputTaken`].
    TakeInput { chat: ChatId },
    /// The input waits for the running turn (true), or no longer does (false).
    HoldInput { chat: ChatId, waiting: bool },
    /// A turn begins.
    StartTurn { chat: ChatId },
    /// Send the history → [`Event::RequestStarted`], items, [`Event::RequestFinished`] or [`Event::RequestFailed`].
    SendRequest { chat: ChatId, request: RequestId },
    /// End a request; nothing of it is wanted any more.
    AbortRequest { chat: ChatId, request: RequestId },
    /// The request is over. `usage`: tokens read and written, when the provider said so.
    FinishRequest { chat: ChatId, request: RequestId, failed: bool, usage: Option<(u64, u64)> },
    /// Show more of the model's text.
    ShowText { chat: ChatId, text: String },
    /// Show more of the model's reasoning.
    ShowReasoning { chat: ChatId, text: String },
    /// The provider has run a tool itself.
    ShowProviderCall { chat: ChatId, call: ProviderCall },
    /// A message joined the history. Calls of an `Llm` message follow as [`Effect::AddCall`].
    AddMessage { chat: ChatId, message: Arc<Message> },
    /// The newest message, a text of the model, is no part of the history any more.
    TakeBackMessage { chat: ChatId },
    /// Only the first `kept` messages are part of the history; the first of the others goes back into the input.
    CutHistory { chat: ChatId, kept: usize },
    /// A message of a saved chat. Calls of an `Llm` message follow as [`Effect::RestoreCall`].
    RestoreMessage { chat: ChatId, message: Arc<Message> },
    /// A call of a saved chat: number `index` of `message`, with its result.
    RestoreCall { chat: ChatId, message: Arc<Message>, index: usize, result: Arc<Message>, look: Option<Look> },
    /// A call joined the last `Llm` message. `runs`: the tool that it names, when it is a call of the router.
    AddCall { chat: ChatId, call: CallId, wire_id: String, name: String, arguments: String, runs: Option<String> },
    /// Decode and check arguments off the main loop → [`Event::CallsChecked`].
    CheckCalls { chat: ChatId, calls: Vec<UncheckedCall> },
    /// A batch of `calls` calls begins.
    StartBatch { chat: ChatId, calls: usize },
    /// Copy the tool, run `env` and `setup` → [`Event::CallPrepared`] or [`Event::CallNotPrepared`].
    PrepareCall { chat: ChatId, call: CallId, arguments: Value, copying: Copying },
    /// Find what the gate needs, in Lua → [`Event::FactFound`].
    FindFact { chat: ChatId, call: CallId, fact: Fact },
    /// Look the approval up in the project's → [`Event::FactFound`] with [`Found::Saved`].
    FindSaved { chat: ChatId, call: CallId, project: Arc<str>, approvals: Vec<Approval> },
    /// Load the permission rules → [`Event::PermissionsLoaded`]; [`Event::FactFound`] when that fails.
    LoadPermissions { chat: ChatId, call: CallId },
    /// Find what the call wants and what these rules say to it → [`Event::FactFound`].
    FindPairs { chat: ChatId, call: CallId, permissions: Arc<Permissions> },
    /// Ask the judge about the call → [`Event::FactFound`] with [`Found::Judge`], later. [`Effect::EndJudge`] follows.
    AskJudge { chat: ChatId, call: CallId },
    /// The judge's verdict is there, or not wanted any more (none).
    EndJudge { chat: ChatId, call: CallId, judged: Option<Judged> },
    /// Remember an approval for a project.
    SaveApproval { project: Arc<str>, approval: Approval },
    /// Ask the user → [`Event::ApprovalAnswered`]. `rest`: how many calls *Cancel* would end besides this one.
    AskApproval { chat: ChatId, call: CallId, question: Question, rest: usize },
    /// The question is void.
    CloseQuestion { chat: ChatId, call: CallId },
    /// Run cmd number `cmd` (from 0) → [`Event::CmdFinished`] or [`Event::CommandStarted`].
    RunCmd { chat: ChatId, call: CallId, cmd: usize },
    /// A command gave this text; it is the data of its cmd.
    StoreText { chat: ChatId, call: CallId, cmd: usize, succeeded: bool, text: String },
    /// End what the call started.
    KillJobs { chat: ChatId, call: CallId, why: KillReason },
    /// Run an output function → [`Event::OutputAdded`]…, [`Event::OutputFinished`]. Also for a call that was still
    /// queued when it was cancelled; then it is copied first, without `env` and `setup`.
    RunOutput { chat: ChatId, call: CallId, output: Output },
    /// Run `handlers.on_exit` → [`Event::ExitFinished`]. `shared`: of the copy that was kept ([`Copying::First`]).
    RunExit { chat: ChatId, call: CallId, shared: bool },
    /// Cut a result that is too long, off the main loop, and save the whole of it and its media → [`Event::ContentCut`],
    /// always.
    CutContent { chat: ChatId, call: CallId, content: String, limits: Limits, media: Vec<Given> },
    /// The call is over. `content`: a text of ours (an error, a default) that the user sees as well as the model.
    /// `message` is its result, which joins the history once those before it are there.
    FinishCall {
        chat: ChatId,
        call: CallId,
        status: CallStatus,
        content: Option<String>,
        duration_ms: u64,
        message: Arc<Message>,
    },
    /// The batch is over.
    FinishBatch { chat: ChatId, failed: bool },
    /// Tell the user something about this chat.
    Notify { chat: ChatId, notice: Notice },
    /// Tell the user something that went wrong and belongs to no chat.
    Tell { text: String },
    /// The turn is over.
    FinishTurn { chat: ChatId, end: TurnEnd },
    /// The history is empty now.
    ClearChat { chat: ChatId },
    /// Forget the chat.
    CloseChat { chat: ChatId },
    /// A line for the log.
    Log { level: LogLevel, text: String },
}

/// Something the user should know.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// The request failed; the text says why.
    RequestFailed(String),
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
    /// Something of a saved chat is not as it was; the text says what.
    Restored(String),
    /// The chat is not saved, or is again; the text says why.
    Saving(String),
    /// The limit on tokens cut the answer off.
    LengthStop,
    /// The provider's filter cut the answer off.
    ContentFilter,
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

impl Effect {
    /// The chat it belongs to; none for what concerns them all.
    pub fn chat(&self) -> Option<ChatId> {
        match self {
            Self::TakeInput { chat }
            | Self::HoldInput { chat, .. }
            | Self::StartTurn { chat }
            | Self::SendRequest { chat, .. }
            | Self::AbortRequest { chat, .. }
            | Self::FinishRequest { chat, .. }
            | Self::ShowText { chat, .. }
            | Self::ShowReasoning { chat, .. }
            | Self::ShowProviderCall { chat, .. }
            | Self::AddMessage { chat, .. }
            | Self::TakeBackMessage { chat }
            | Self::CutHistory { chat, .. }
            | Self::RestoreMessage { chat, .. }
            | Self::RestoreCall { chat, .. }
            | Self::AddCall { chat, .. }
            | Self::CheckCalls { chat, .. }
            | Self::StartBatch { chat, .. }
            | Self::PrepareCall { chat, .. }
            | Self::FindFact { chat, .. }
            | Self::FindSaved { chat, .. }
            | Self::LoadPermissions { chat, .. }
            | Self::FindPairs { chat, .. }
            | Self::AskJudge { chat, .. }
            | Self::EndJudge { chat, .. }
            | Self::AskApproval { chat, .. }
            | Self::CloseQuestion { chat, .. }
            | Self::RunCmd { chat, .. }
            | Self::StoreText { chat, .. }
            | Self::KillJobs { chat, .. }
            | Self::RunOutput { chat, .. }
            | Self::RunExit { chat, .. }
            | Self::CutContent { chat, .. }
            | Self::FinishCall { chat, .. }
            | Self::FinishBatch { chat, .. }
            | Self::Notify { chat, .. }
            | Self::FinishTurn { chat, .. }
            | Self::ClearChat { chat }
            | Self::CloseChat { chat } => Some(*chat),
            Self::SaveApproval { .. } | Self::Tell { .. } | Self::Log { .. } => None,
        }
    }
}
