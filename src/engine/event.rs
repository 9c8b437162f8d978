//! What happens: the events of the engine, with the ids and settings that they carry. Knows nothing of the machine.
//!
//! An event is addressed: to a chat, and in it to a request or a call. One whose address is gone is dropped.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::restore::Restored;
use crate::adapter::Item;
use crate::change::Change;
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

/// What there is to tell of a command that is over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// For the model: how it ended, and what it printed.
    pub text: String,
    /// What it printed, and nothing else.
    pub printed: String,
    /// Files that hold the whole of what was cut there.
    pub files: Vec<PathBuf>,
}

/// Why a request brought no (complete) answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// For the user; the provider's own words where it has some.
    pub message: String,
    /// The status of the answer, when that was none of success.
    pub status: Option<u16>,
    /// The message says by itself whose fault it is.
    pub names_provider: bool,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(formatter, "{status}: {}", self.message),
            None => formatter.write_str(&self.message),
        }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self { message, ..Self::default() }
    }
}

/// What has changed about the saving of a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saving {
    /// There is no thread that could save it.
    NoThread {
        /// Why.
        reason: String,
    },
    /// Its file cannot be written.
    Failed {
        /// The file.
        path: String,
        /// Why.
        reason: String,
        /// What can be done about it.
        remedy: Remedy,
    },
    /// It can be written again.
    Works {
        /// The file.
        path: String,
        /// How many entries are missing in it.
        lost: usize,
    },
    /// A message is too long to be read back from the file: only its beginning is there.
    TooLong {
        /// How long it is.
        bytes: usize,
        /// The file that holds all of it, or why there is none.
        whole: Result<String, String>,
    },
}

/// What can be done about a file that cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The disk is full.
    MakeRoom,
    /// The folder may not be written.
    MakeWritable,
    /// The file has as much as is read back.
    BeginNew,
    /// Nobody knows.
    Look,
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
/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// To one chat.
    Addressed { chat: ChatId, event: ChatEvent },
    /// A deadline passed (`Engine::next_deadline_ms`).
    TimePassed,
    /// The file of the projects' approvals could not be written or read; the text is for the user.
    ApprovalsFailed { text: String },
    /// Another thread panicked: a fault of ours, whose text says where. What it was doing ends with an event of its own.
    ThreadPanicked { text: String },
}

#[allow(missing_docs, reason = "fields are told by the sentence of their variant")]
/// Something that happened to a chat.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEvent {
    /// It exists now. Its id comes from `Engine::next_chat`.
    Opened(ChatSettings),
    /// The user wants to send what is in the input. While a turn runs, it goes out with the next request.
    Submitted,
    /// Reply to `TakeInput`. None: there was nothing in the input. `typed`: what the user typed, when the model reads
    /// something else.
    InputTaken { text: Option<String>, typed: Option<String> },
    /// The user wants the last answer anew, or the one that failed. Tools that ran do not run again.
    Retried,
    /// The user wants their last message back in the input, and what came of it forgotten.
    LastMessageTaken,
    /// A message added from outside (`chat:add_message`); it enters the history after an open batch.
    MessageGiven { role: Role, content: String, visible: bool, attachments: Vec<Attachment> },
    /// Calls to run that the model did not make; run after an open batch. They follow `submit`: whether the results
    /// are sent afterwards.
    CallsRequested { calls: Vec<RequestedCall>, tools: Arc<[OfferedTool]>, submit: bool },
    /// A saved chat goes on in this one, which is empty.
    Restored(Restored),
    /// The user should know something about the saving of the chat: it fails, it works again.
    SavingChanged(Saving),
    /// Something about a request that was sent.
    Request { request: RequestId, event: RequestEvent },
    /// Reply to `CheckCalls`.
    CallsChecked(Vec<CheckedCall>),
    /// Something about a call.
    Call { call: CallId, event: CallEvent },
    /// Auto mode is on or off from now on.
    AutoSet { auto: bool },
    /// The user takes an approval of the chat back.
    ApprovalForgotten(Approval),
    /// Code lets a tool run, or one of its commands, as the user does by an answer.
    ApprovalGiven(Approval),
    /// The permission rules are these from now on.
    PermissionsLoaded(Arc<Permissions>),
    /// The user ends the running calls, the queue goes on.
    CallSkipped,
    /// The user stops the chat: request, running and queued calls.
    Stopped,
    /// The history is emptied; a turn that runs is stopped first.
    Cleared,
    /// The chat is gone: stopped, then forgotten.
    Closed,
}

#[allow(missing_docs, reason = "fields are told by the sentence of their variant")]
/// Something that happened to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestEvent {
    /// It is on its way, offering these tools.
    Started { tools: Arc<[OfferedTool]> },
    /// Pieces of the answer.
    Items(Vec<Item>),
    /// Something about it that the user should know: a tool was left out.
    Noted { text: String },
    /// It failed for now and is sent again.
    Retried(Retry),
    /// The answer is complete.
    Finished,
    /// No (complete) answer.
    Failed(Failure),
}

#[allow(missing_docs, reason = "fields are told by the sentence of their variant")]
/// Something that happened to a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallEvent {
    /// Reply to `Prepare`.
    Prepared(Preparation),
    /// Reply to `Prepare`: copying, `env` or `setup` threw. `on_exit`: `setup` was reached and there is an `on_exit` to run.
    NotPrepared { message: String, on_exit: bool },
    /// Reply to `Prepare`: the user's own settings forbid this call, whatever the gate would say (N-38).
    Denied { message: String },
    /// Reply to every effect that finds a fact. None: it could not be found, which counts as ask.
    FactFound { fact: Fact, found: Option<Found> },
    /// The user's answer to `AskApproval`.
    Answered(Answer),
    /// A cmd has its result; the data stays where it was made.
    CmdFinished { cmd: usize, succeeded: bool },
    /// The cmd runs outside of Lua, as a command for one; [`CallEvent::CommandFinished`] follows in any case.
    CommandStarted { cmd: usize },
    /// What ran outside of Lua is over, by itself or by `KillJobs`.
    CommandFinished { cmd: usize, succeeded: bool, report: Report },
    /// The tool added text for its result.
    OutputAdded { content: String },
    /// The tool added a picture, a sound or a file to its result.
    MediaAdded(Given),
    /// The tool has changed a file.
    ChangeMade(Change),
    /// Reply to `RunOutput`.
    OutputFinished(OutputOutcome),
    /// Reply to `RunExit`.
    ExitFinished,
    /// Reply to `Shorten`: what is left, with a mark where something is gone, the file that holds the whole, and what
    /// became of the media.
    Shortened { content: String, file: Option<PathBuf>, media: KeptMedia },
}

impl Event {
    /// An event of a chat.
    pub fn chat(chat: ChatId, event: ChatEvent) -> Self {
        Self::Addressed { chat, event }
    }

    /// An event of a request of a chat.
    pub fn request(chat: ChatId, request: RequestId, event: RequestEvent) -> Self {
        Self::chat(chat, ChatEvent::Request { request, event })
    }

    /// An event of a call of a chat.
    pub fn call(chat: ChatId, call: CallId, event: CallEvent) -> Self {
        Self::chat(chat, ChatEvent::Call { call, event })
    }
}
