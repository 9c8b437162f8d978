//! The engine: events in, effects out. It owns the chats and knows no clock, file, thread, handle or Lua value.
//!
//! The shell around it (`bridge`, `runtime`) performs the effects in order and brings what they cause back as events.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::adapter::{Item, ProviderCall};
use crate::chat::restore::{Look, Restored};
use crate::chat::{Chat, Ids, Shell};
use crate::gate::approvals::{Approval, Scope};
use crate::gate::judge::Judged;
use crate::gate::{Fact, Found, Permissions, Question};
use crate::message::{Attachment, History, Message, Role};
use crate::native::media::Given;
use crate::output::{Keep, Limits};
use crate::tool::{CallId, CallStatus, CheckedCall, Copying, KeptMedia, OfferedTool, Preparation, UncheckedCall};

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

/// All chats. One engine runs in an editor.
#[derive(Clone, Debug, Default)]
pub struct Engine {
    chats: BTreeMap<ChatId, Chat>,
    opened: u64,
    ids: Ids,
}

impl Engine {
    /// An id for a chat that is about to be opened.
    pub fn next_chat(&mut self) -> ChatId {
        self.opened += 1;
        ChatId(self.opened)
    }

    /// How many chats there are.
    pub fn chat_count(&self) -> usize {
        self.chats.len()
    }

    /// The ids of all chats.
    pub fn chats(&self) -> Vec<ChatId> {
        self.chats.keys().copied().collect()
    }

    /// What was said in a chat.
    pub fn history(&self, chat: ChatId) -> Option<&History> {
        self.chats.get(&chat).map(Chat::history)
    }

    /// What is approved in each chat, with the time at which it was.
    pub fn approvals(&self) -> Vec<(ChatId, Approval, u64)> {
        let of = |(id, chat): (&ChatId, &Chat)| {
            let id = *id;
            chat.approvals().list().into_iter().map(move |(approval, since_ms)| (id, approval, since_ms))
        };
        self.chats.iter().flat_map(of).collect()
    }

    /// Whether no turn runs in a chat; none: there is no such chat.
    #[cfg(test)]
    fn is_idle(&self, chat: ChatId) -> Option<bool> {
        self.chats.get(&chat).map(Chat::is_idle)
    }

    /// When [`Event::TimePassed`] is due, on the clock of `now_ms`.
    pub fn next_deadline_ms(&self) -> Option<u64> {
        self.chats.values().filter_map(Chat::deadline_ms).min()
    }

    /// Advances the chats by one event. Never blocks, never fails: what does not fit becomes a log line.
    ///
    /// `now_ms` is a clock that never goes back.
    pub fn handle(&mut self, now_ms: u64, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut shell = Shell { now_ms, ids: &mut self.ids, effects: &mut effects };
        let id = match event {
            Event::ChatOpened { chat, settings } => {
                self.chats.insert(chat, Chat::new(chat, settings));
                return effects;
            }
            Event::TimePassed => {
                for chat in self.chats.values_mut() {
                    chat.time_passed(&mut shell);
                }
                self.chats.retain(|_, chat| !chat.is_closed());
                return effects;
            }
            Event::ThreadPanicked { text } => return vec![Effect::Log { level: LogLevel::Error, text }],
            Event::ApprovalsFailed { text } => return vec![Effect::Tell { text }],
            ref event => event.chat(),
        };
        let Some(chat) = id.and_then(|id| self.chats.get_mut(&id)) else {
            return late(event);
        };
        let shell = &mut shell;
        match event {
            Event::ChatOpened { .. } | Event::TimePassed => {}
            Event::ThreadPanicked { .. } | Event::ApprovalsFailed { .. } => {}
            Event::AutoSet { auto, .. } => chat.auto_set(auto),
            Event::ApprovalForgotten { approval, .. } => chat.approval_forgotten(&approval),
            Event::Submitted { .. } => chat.submitted(shell),
            Event::InputTaken { text, typed, .. } => chat.input_taken(shell, text, typed),
            Event::Retried { .. } => chat.retried(shell),
            Event::LastMessageTaken { .. } => chat.last_message_taken(shell),
            Event::MessageGiven { role, content, visible, attachments, .. } => {
                chat.message_given(shell, role, (content, attachments), visible);
            }
            Event::CallsRequested { calls, tools, submit, .. } => chat.calls_requested(shell, calls, tools, submit),
            Event::ChatRestored { restored, .. } => chat.restored(shell, restored),
            Event::SavingChanged { text, .. } => chat.saving_changed(shell, text),
            Event::RequestStarted { request, tools, .. } => chat.request_started(shell, request, tools),
            Event::RequestItems { request, items, .. } => chat.request_items(shell, request, items),
            Event::RequestNoted { request, text, .. } => chat.request_noted(shell, request, Notice::Request(text)),
            Event::RequestRetried { request, retry, .. } => {
                chat.request_noted(shell, request, Notice::Retrying(retry));
            }
            Event::RequestFinished { request, .. } => chat.request_finished(shell, request),
            Event::RequestFailed { request, message, .. } => chat.request_failed(shell, request, message),
            Event::CallsChecked { calls, .. } => chat.calls_checked(shell, calls),
            Event::CallPrepared { call, preparation, .. } => chat.call_prepared(shell, call, preparation),
            Event::CallNotPrepared { call, message, on_exit, .. } => {
                chat.call_not_prepared(shell, call, message, on_exit);
            }
            Event::CallDenied { call, message, .. } => chat.call_denied(shell, call, message),
            Event::PermissionsLoaded { permissions, .. } => chat.permissions_loaded(shell, permissions),
            Event::FactFound { call, fact, found, .. } => chat.fact_found(shell, call, fact, found),
            Event::ApprovalAnswered { call, answer, .. } => chat.approval_answered(shell, call, answer),
            Event::CmdFinished { call, cmd, succeeded, .. } => chat.cmd_finished(shell, call, cmd, succeeded),
            Event::CommandStarted { call, cmd, .. } => chat.command_started(shell, call, cmd),
            Event::CommandFinished { call, cmd, succeeded, text, .. } => {
                chat.command_finished(shell, call, cmd, succeeded, text);
            }
            Event::OutputAdded { call, content, .. } => chat.output_added(shell, call, content),
            Event::MediaAdded { call, media, .. } => chat.media_added(shell, call, media),
            Event::OutputFinished { call, outcome, .. } => chat.output_finished(shell, call, outcome),
            Event::ExitFinished { call, .. } => chat.exit_finished(shell, call),
            Event::ContentCut { call, content, media, .. } => chat.content_cut(shell, call, content, media),
            Event::CallSkipped { .. } => chat.call_skipped(shell),
            Event::ChatStopped { .. } => chat.stopped(shell),
            Event::ChatCleared { .. } => chat.cleared(shell),
            Event::ChatClosed { .. } => chat.closed(shell),
        }
        if chat.is_closed() {
            id.and_then(|id| self.chats.remove(&id));
        }
        effects
    }
}

/// For a chat that is gone.
fn late(event: Event) -> Vec<Effect> {
    let text = "a late event for a chat that is gone was dropped".to_owned();
    let mut effects = vec![Effect::Log { level: LogLevel::Debug, text }];
    if let Event::RequestStarted { chat, request, .. } = event {
        effects.push(Effect::AbortRequest { chat, request });
    }
    effects
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

#[cfg(test)]
mod tests;
