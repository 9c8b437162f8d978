//! What happens: the events of the engine, with the ids and settings that they carry. Knows nothing of the machine.

use std::sync::Arc;

use super::restore::Restored;
use crate::adapter::Item;
use crate::gate::approvals::{Approval, Scope};
use crate::gate::{Fact, Found, Permissions};
use crate::media::Given;
use crate::message::{Attachment, Role};
use crate::output::{Keep, Limits};
use crate::tool::{CallId, CheckedCall, KeptMedia, OfferedTool, Preparation};

/// One chat, unique in the life of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChatId(pub u64);

/// One request to a provider, unique in the life of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// What a chat is opened with.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatSettings {
    /// Send the results when no call of the batch failed.
    pub auto_submit_success: bool,
    /// Send the results when any call of the batch failed.
    pub auto_submit_errors: bool,
    /// How many calls of parallel tools may run at once, at least 1.
    pub max_parallel: usize,
    /// How long the result of a call may be. A longer one is cut, whatever made it.
    pub limits: Limits,
    /// The project that approvals are remembered for; none: they are remembered for the chat.
    pub project: Option<Arc<str>>,
}

impl ChatSettings {
    /// How far approvals reach that are given in the chat.
    pub fn scope(&self) -> Scope {
        if self.project.is_some() { Scope::Project } else { Scope::Chat }
    }
}

impl Default for ChatSettings {
    fn default() -> Self {
        Self {
            auto_submit_success: true,
            auto_submit_errors: true,
            max_parallel: 4,
            limits: Limits::new(Keep::Head),
            project: None,
        }
    }
}

/// A call that did not come from the model: `run_tool`, `tools:execute()`.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestedCall {
    /// Empty: an id is made.
    pub wire_id: String,
    /// The tool's name.
    pub name: String,
    /// JSON text.
    pub arguments: String,
}

/// The user's answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Accept, and remember what made it ask.
    Always {
        /// The pattern to remember in place of the one value that was asked about.
        pattern: Option<String>,
    },
    /// Accept this call.
    Accept,
    /// Do not run this call; the queue goes on.
    Reject {
        /// For the model.
        reason: Option<String>,
    },
    /// Do not run this call nor the rest, and send nothing.
    Cancel,
}

/// A request that is sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Why it failed.
    pub reason: String,
    /// Which attempt after the first comes next.
    pub attempt: u32,
    /// How many there are at most.
    pub of: u32,
    /// How long it waits before that, in ms.
    pub wait_ms: u64,
}

/// What came of an output function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputOutcome {
    /// It ran.
    Ran,
    /// The tool does not define it: the documented default counts.
    Undefined,
    /// It threw this.
    Threw(String),
}

#[allow(missing_docs, reason = "fields are told by the sentence of their variant")]
/// Something that happened. Events for chats, requests or calls that are gone are ignored.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A chat exists now. The id comes from [`Engine::next_chat`].
    ChatOpened { chat: ChatId, settings: ChatSettings },
    /// The user wants to send what is in the input. While a turn runs, it goes out with the next request.
    Submitted { chat: ChatId },
    /// Reply to [`Effect::TakeInput`]. None: there was nothing in the input. `typed`: what the user typed, when the model
    /// reads something else.
    InputTaken { chat: ChatId, text: Option<String>, typed: Option<String> },
    /// The user wants the last answer anew, or the one that failed. Tools that ran do not run again.
    Retried { chat: ChatId },
    /// The user wants their last message back in the input, and what came of it forgotten.
    LastMessageTaken { chat: ChatId },
    /// A message added from outside (`chat:add_message`); it enters the history after an open batch.
    MessageGiven { chat: ChatId, role: Role, content: String, visible: bool, attachments: Vec<Attachment> },
    /// Calls to run that the model did not make; run after an open batch. They follow `submit`: whether the results
    /// are sent afterwards.
    CallsRequested { chat: ChatId, calls: Vec<RequestedCall>, tools: Arc<[OfferedTool]>, submit: bool },
    /// A saved chat goes on in this one, which is empty.
    ChatRestored { chat: ChatId, restored: Restored },
    /// The user should know something about the saving of a chat: it fails, it works again.
    SavingChanged { chat: ChatId, text: String },
    /// A request is on its way, offering these tools.
    RequestStarted { chat: ChatId, request: RequestId, tools: Arc<[OfferedTool]> },
    /// Pieces of the answer.
    RequestItems { chat: ChatId, request: RequestId, items: Vec<Item> },
    /// Something about the request that the user should know: a tool was left out.
    RequestNoted { chat: ChatId, request: RequestId, text: String },
    /// The request failed for now and is sent again.
    RequestRetried { chat: ChatId, request: RequestId, retry: Retry },
    /// The answer is complete.
    RequestFinished { chat: ChatId, request: RequestId },
    /// No (complete) answer; `message` is for the user.
    RequestFailed { chat: ChatId, request: RequestId, message: String },
    /// Reply to [`Effect::CheckCalls`].
    CallsChecked { chat: ChatId, calls: Vec<CheckedCall> },
    /// Reply to [`Effect::PrepareCall`].
    CallPrepared { chat: ChatId, call: CallId, preparation: Preparation },
    /// Reply to [`Effect::PrepareCall`]: copying, `env` or `setup` threw. `on_exit`: `setup` was reached and there is
    /// an `on_exit` to run.
    CallNotPrepared { chat: ChatId, call: CallId, message: String, on_exit: bool },
    /// Reply to [`Effect::PrepareCall`]: the user's own settings forbid this call, whatever the gate would say (N-38).
    CallDenied { chat: ChatId, call: CallId, message: String },
    /// Auto mode is on or off from now on.
    AutoSet { chat: ChatId, auto: bool },
    /// The user takes an approval of the chat back.
    ApprovalForgotten { chat: ChatId, approval: Approval },
    /// The file of the projects' approvals could not be written or read; the text is for the user.
    ApprovalsFailed { text: String },
    /// The permission rules of a chat are these from now on.
    PermissionsLoaded { chat: ChatId, permissions: Arc<Permissions> },
    /// Reply to [`Effect::FindFact`], [`Effect::FindPairs`], [`Effect::FindSaved`] and [`Effect::AskJudge`]. None: it could not be found, which
    /// counts as ask.
    FactFound { chat: ChatId, call: CallId, fact: Fact, found: Option<Found> },
    /// The user's answer to [`Effect::AskApproval`].
    ApprovalAnswered { chat: ChatId, call: CallId, answer: Answer },
    /// A cmd of the call has its result; the data stays where it was made.
    CmdFinished { chat: ChatId, call: CallId, cmd: usize, succeeded: bool },
    /// The cmd is a command and runs in a process of its own; [`Event::CommandFinished`] follows in any case.
    CommandStarted { chat: ChatId, call: CallId, cmd: usize },
    /// The process of a command is over, by itself or by [`Effect::KillJobs`]. `text` is for the model.
    CommandFinished { chat: ChatId, call: CallId, cmd: usize, succeeded: bool, text: String },
    /// The tool added text for its result.
    OutputAdded { chat: ChatId, call: CallId, content: String },
    /// The tool added a picture, a sound or a file to its result.
    MediaAdded { chat: ChatId, call: CallId, media: Given },
    /// Reply to [`Effect::RunOutput`].
    OutputFinished { chat: ChatId, call: CallId, outcome: OutputOutcome },
    /// Reply to [`Effect::RunExit`].
    ExitFinished { chat: ChatId, call: CallId },
    /// Reply to [`Effect::CutContent`]: what is left, with a mark where something is gone, and what became of the media.
    ContentCut { chat: ChatId, call: CallId, content: String, media: KeptMedia },
    /// The user ends the running calls, the queue goes on.
    CallSkipped { chat: ChatId },
    /// The user stops the chat: request, running and queued calls.
    ChatStopped { chat: ChatId },
    /// The history is emptied; only while no turn runs, else the turn is stopped first.
    ChatCleared { chat: ChatId },
    /// The chat is gone: stopped, then forgotten.
    ChatClosed { chat: ChatId },
    /// A deadline passed ([`Engine::next_deadline_ms`]).
    TimePassed,
    /// Another thread panicked: a fault of ours, whose text says where. What it was doing ends with an event of its own.
    ThreadPanicked { text: String },
}

impl Event {
    /// The chat it belongs to; none for what concerns them all.
    pub fn chat(&self) -> Option<ChatId> {
        match self {
            Self::ChatOpened { chat, .. }
            | Self::Submitted { chat }
            | Self::InputTaken { chat, .. }
            | Self::Retried { chat }
            | Self::LastMessageTaken { chat }
            | Self::MessageGiven { chat, .. }
            | Self::CallsRequested { chat, .. }
            | Self::ChatRestored { chat, .. }
            | Self::SavingChanged { chat, .. }
            | Self::RequestStarted { chat, .. }
            | Self::RequestItems { chat, .. }
            | Self::RequestNoted { chat, .. }
            | Self::RequestRetried { chat, .. }
            | Self::RequestFinished { chat, .. }
            | Self::RequestFailed { chat, .. }
            | Self::CallsChecked { chat, .. }
            | Self::CallPrepared { chat, .. }
            | Self::CallNotPrepared { chat, .. }
            | Self::CallDenied { chat, .. }
            | Self::AutoSet { chat, .. }
            | Self::ApprovalForgotten { chat, .. }
            | Self::FactFound { chat, .. }
            | Self::PermissionsLoaded { chat, .. }
            | Self::ApprovalAnswered { chat, .. }
            | Self::CmdFinished { chat, .. }
            | Self::CommandStarted { chat, .. }
            | Self::CommandFinished { chat, .. }
            | Self::OutputAdded { chat, .. }
            | Self::MediaAdded { chat, .. }
            | Self::OutputFinished { chat, .. }
            | Self::ExitFinished { chat, .. }
            | Self::ContentCut { chat, .. }
            | Self::CallSkipped { chat }
            | Self::ChatStopped { chat }
            | Self::ChatCleared { chat }
            | Self::ChatClosed { chat } => Some(*chat),
            Self::TimePassed | Self::ThreadPanicked { .. } | Self::ApprovalsFailed { .. } => None,
        }
    }
}
