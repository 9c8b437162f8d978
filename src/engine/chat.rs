//! One chat: its history, what the user let it remember, and the turn that runs in it. What the model answers is handled in
//! `answer.rs`, its calls in `calls.rs`.

mod answer;
mod calls;
mod comeback;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use crate::engine::call::End;
use crate::engine::effect::{Effect, LogLevel, Notice, TurnEnd};
use crate::engine::event::{ChatId, ChatSettings, RequestId, RequestedCall};
use crate::engine::turn::batch::Repeats;
use crate::engine::turn::{Answering, Checking, Draft, Turn};
use crate::gate::Permissions;
use crate::gate::approvals::{Approval, Approvals};
use crate::message::{Attachment, History, Message, Opaque, Role};
use crate::tool::{CallId, OfferedTool, shown};

/// Ids that are unique in the life of the engine.
#[derive(Clone, Debug, Default)]
pub struct Ids {
    calls: u64,
    requests: u64,
    made: u64,
}

impl Ids {
    fn call(&mut self) -> CallId {
        self.calls += 1;
        CallId(self.calls)
    }

    fn request(&mut self) -> RequestId {
        self.requests += 1;
        RequestId(self.requests)
    }

    /// An id for a call whose provider sent none, or one that was used before.
    fn made(&mut self) -> String {
        self.made += 1;
        format!("call_lathe_{}", self.made)
    }
}

/// What every handler of a chat needs.
pub struct Shell<'a> {
    /// The time of the event.
    pub now_ms: u64,
    /// Where new ids come from.
    pub ids: &'a mut Ids,
    /// Where effects go.
    pub effects: &'a mut Vec<Effect>,
}

/// One chat.
#[derive(Clone, Debug)]
pub struct Chat {
    id: ChatId,
    settings: ChatSettings,
    history: History,
    approvals: Approvals,
    /// Tools run without asking, but for those that are protected.
    auto: bool,
    /// The permission rules; none: they are not loaded yet.
    permissions: Option<Arc<Permissions>>,
    repeats: Repeats,
    turn: Turn,
    /// The user sent the input while a turn ran: it goes out with the next request.
    waiting: bool,
    /// Messages given while a turn runs; they join the history before the next request.
    given: Vec<Message>,
    /// Calls requested while a turn runs.
    requested: VecDeque<Requested>,
    /// Every call id of the history: no two calls may share one.
    wire_ids: HashSet<String>,
    /// The newest message may be half an answer, of a request that failed: sending nothing takes it back.
    failed: bool,
    /// How often in a row the answer has paused.
    pauses: u32,
    /// Empty the history as soon as the turn has ended.
    clearing: bool,
    /// Forget the chat as soon as the turn has ended.
    closing: bool,
}

#[derive(Clone, Debug)]
struct Requested {
    calls: Vec<RequestedCall>,
    tools: Arc<[OfferedTool]>,
    submit: bool,
}

impl Chat {
    /// A chat without messages.
    pub fn new(id: ChatId, settings: ChatSettings) -> Self {
        Self {
            id,
            settings,
            history: History::default(),
            approvals: Approvals::default(),
            auto: false,
            permissions: None,
            repeats: Repeats::default(),
            turn: Turn::Idle,
            waiting: false,
            given: Vec::new(),
            requested: VecDeque::new(),
            wire_ids: HashSet::new(),
            failed: false,
            pauses: 0,
            clearing: false,
            closing: false,
        }
    }

    /// What was said.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// What the user approved for the life of the chat.
    pub fn approvals(&self) -> &Approvals {
        &self.approvals
    }

    /// Auto mode. A question that is open stays open: only its answers answer it.
    pub fn auto_set(&mut self, auto: bool) {
        self.auto = auto;
    }

    /// An approval is taken back.
    pub fn approval_forgotten(&mut self, approval: &Approval) {
        self.approvals.forget(approval);
    }

    /// The permission rules are these from now on.
    pub fn permissions_loaded(&mut self, shell: &mut Shell, permissions: Arc<Permissions>) {
        self.permissions = Some(permissions);
        if let Turn::Running(_) = self.turn {
            self.with_batch(shell, |batch, ctx| {
                batch.each_active(|call| call.permissions_loaded(ctx));
                true
            });
        }
    }

    /// Whether no turn runs.
    pub fn is_idle(&self) -> bool {
        matches!(self.turn, Turn::Idle)
    }

    /// Whether it has ended and can be forgotten.
    pub fn is_closed(&self) -> bool {
        self.closing && self.is_idle()
    }

    /// When it must be looked at again.
    pub fn deadline_ms(&self) -> Option<u64> {
        match &self.turn {
            Turn::Running(batch) => batch.deadline_ms(),
            Turn::Idle | Turn::TakingInput { .. } | Turn::Answering(_) | Turn::Checking(_) => None,
        }
    }

    /// The user sends.
    pub fn submitted(&mut self, shell: &mut Shell) {
        if self.is_idle() {
            self.turn = Turn::TakingInput { begun: false, stopped: false };
            shell.effects.push(Effect::TakeInput { chat: self.id });
        } else if !self.waiting && !self.closing {
            self.waiting = true;
            shell.effects.push(Effect::HoldInput { chat: self.id, waiting: true });
        }
    }

    /// The input was read.
    pub fn input_taken(&mut self, shell: &mut Shell, text: Option<String>, typed: Option<String>) {
        let Turn::TakingInput { begun, stopped } = self.turn else { return self.ignore_late(shell, "input") };
        self.turn = Turn::Idle;
        let taken = text.is_some();
        if let Some(content) = text {
            self.repeats.reset();
            self.add_message(shell, Message::User { content, visible: true, typed, attachments: vec![] });
        }
        let has_turn = taken || begun;
        // Half an answer would be taken for a whole one.
        if !has_turn && !stopped && self.failed && self.history.take_back() {
            shell.effects.push(Effect::TakeBackMessage { chat: self.id });
        }
        if !has_turn && (stopped || !self.awaits_answer()) {
            if !stopped {
                self.notify(shell, Notice::NothingToSend);
            }
            return self.settle(shell);
        }
        if !begun {
            shell.effects.push(Effect::StartTurn { chat: self.id });
        }
        if stopped { self.finish_turn(shell, TurnEnd::Stopped) } else { self.send(shell) }
    }

    /// The user wants the last answer anew.
    pub fn retried(&mut self, shell: &mut Shell) {
        if !self.is_idle() {
            return self.notify(shell, Notice::StillRunning);
        }
        while self.history.take_back() {
            shell.effects.push(Effect::TakeBackMessage { chat: self.id });
        }
        if !self.awaits_answer() {
            return self.notify(shell, Notice::NothingToSend);
        }
        self.repeats.reset();
        shell.effects.push(Effect::StartTurn { chat: self.id });
        self.send(shell);
    }

    /// The user wants to write their last message anew.
    pub fn last_message_taken(&mut self, shell: &mut Shell) {
        if !self.is_idle() {
            return self.notify(shell, Notice::StillRunning);
        }
        let Some(kept) = self.history.last_visible_user() else {
            return self.notify(shell, Notice::NothingToEdit);
        };
        self.history.cut(kept);
        self.repeats.reset();
        self.failed = false;
        shell.effects.push(Effect::CutHistory { chat: self.id, kept });
    }

    /// Whether the history ends with something the model has not answered.
    fn awaits_answer(&self) -> bool {
        matches!(self.history.last(), Some(Message::User { .. } | Message::Tool { .. }))
    }

    /// A message from outside.
    pub fn message_given(
        &mut self,
        shell: &mut Shell,
        role: Role,
        (content, attachments): (String, Vec<Attachment>),
        visible: bool,
    ) {
        let message = match role {
            Role::System => Message::System { content },
            Role::User => Message::User { content, visible, typed: None, attachments },
            Role::Llm => Message::Llm { content, reasoning: String::new(), calls: Vec::new(), opaque: None },
            // A result belongs to a call, and calls come from the model: one alone would be an orphan.
            Role::Tool => return self.ignore_late(shell, "tool message"),
        };
        if self.is_idle() {
            self.add_message(shell, message);
        } else {
            self.given.push(message);
        }
    }

    /// Saving has begun to fail, or works again.
    pub fn saving_changed(&self, shell: &mut Shell, text: String) {
        self.notify(shell, Notice::Saving(text));
    }

    /// Calls that the model did not make.
    pub fn calls_requested(
        &mut self,
        shell: &mut Shell,
        calls: Vec<RequestedCall>,
        tools: Arc<[OfferedTool]>,
        submit: bool,
    ) {
        if calls.is_empty() || self.closing {
            return;
        }
        let idle = self.is_idle();
        self.requested.push_back(Requested { calls, tools, submit });
        if idle {
            shell.effects.push(Effect::StartTurn { chat: self.id });
            self.run_requested(shell);
        }
    }

    fn run_requested(&mut self, shell: &mut Shell) -> bool {
        let Some(Requested { calls, tools, submit }) = self.requested.pop_front() else { return false };
        let drafts = calls
            .into_iter()
            .map(|call| Draft {
                index: 0,
                wire_id: call.wire_id,
                name: call.name,
                arguments: call.arguments,
                extra: None,
            })
            .collect();
        self.check(
            shell,
            Checking {
                content: String::new(),
                reasoning: String::new(),
                opaque: None,
                calls: Vec::new(),
                tools,
                submit,
            },
            drafts,
        );
        true
    }

    /// The user stops the chat.
    pub fn stopped(&mut self, shell: &mut Shell) {
        self.drop_requested(shell);
        match &mut self.turn {
            Turn::Idle => {}
            Turn::TakingInput { stopped, .. } => *stopped = true,
            Turn::Answering(answering) => {
                let request = answering.request;
                let Some(answering) = self.take_answering(request) else { return };
                shell.effects.push(Effect::AbortRequest { chat: self.id, request });
                self.finish_request(shell, &answering, false);
                self.keep_text(shell, answering.content, answering.reasoning, None);
                self.finish_turn(shell, TurnEnd::Stopped);
            }
            Turn::Checking(checking) => {
                let content = std::mem::take(&mut checking.content);
                let reasoning = std::mem::take(&mut checking.reasoning);
                self.keep_text(shell, content, reasoning, None);
                self.finish_turn(shell, TurnEnd::Stopped);
            }
            Turn::Running(_) => self.with_batch(shell, |batch, ctx| {
                batch.cut_queue(End::Stopped);
                batch.each_active(|call| call.cut(ctx, End::Stopped));
                true
            }),
        }
    }

    /// The history is emptied, after the turn.
    pub fn cleared(&mut self, shell: &mut Shell) {
        self.clearing = true;
        self.stop_and_settle(shell);
    }

    /// The chat goes away, after the turn.
    pub fn closed(&mut self, shell: &mut Shell) {
        self.closing = true;
        self.stop_and_settle(shell);
    }

    fn stop_and_settle(&mut self, shell: &mut Shell) {
        // A turn that ends settles by itself.
        if self.is_idle() { self.settle(shell) } else { self.stopped(shell) }
    }

    /// Keeps the text of an answer without calls, if there is any. Calls of an answer that did not finish are dropped:
    /// they may be cut off, and none ran.
    fn keep_text(&mut self, shell: &mut Shell, content: String, reasoning: String, opaque: Option<Opaque>) {
        if !content.is_empty() || opaque.is_some() {
            self.add_message(shell, Message::Llm { content, reasoning, calls: Vec::new(), opaque });
        }
    }

    fn finish_turn(&mut self, shell: &mut Shell, end: TurnEnd) {
        self.turn = Turn::Idle;
        self.failed = end == TurnEnd::Failed;
        self.drop_requested(shell);
        self.flush_given(shell);
        let waiting = std::mem::take(&mut self.waiting);
        let next = waiting && end == TurnEnd::Done && !self.closing && !self.clearing;
        if waiting && !next {
            shell.effects.push(Effect::HoldInput { chat: self.id, waiting: false });
        }
        shell.effects.push(Effect::FinishTurn { chat: self.id, end });
        self.settle(shell);
        if next {
            self.submitted(shell);
        }
    }

    /// Calls that were requested for a turn that ends otherwise.
    fn drop_requested(&mut self, shell: &mut Shell) {
        for Requested { calls, .. } in std::mem::take(&mut self.requested) {
            let names: Vec<_> = calls.iter().map(|call| shown(&call.name)).collect();
            let text =
                format!("requested calls of chat {} were not run, its turn ended: {}", self.id.0, names.join(", "));
            shell.effects.push(Effect::Log { level: LogLevel::Warn, text });
        }
    }

    /// Does what waited for the end of the turn.
    fn settle(&mut self, shell: &mut Shell) {
        if !self.is_idle() {
            return;
        }
        self.flush_given(shell);
        if std::mem::take(&mut self.clearing) {
            self.history.clear();
            self.wire_ids.clear();
            self.repeats.reset();
            shell.effects.push(Effect::ClearChat { chat: self.id });
        }
        if self.closing {
            shell.effects.push(Effect::CloseChat { chat: self.id });
        }
    }

    fn send(&mut self, shell: &mut Shell) {
        self.flush_given(shell);
        let repair = self.history.repair();
        if repair != Default::default() {
            let text = format!("repaired the history of chat {}: {repair:?}", self.id.0);
            shell.effects.push(Effect::Log { level: LogLevel::Error, text });
        }
        let request = shell.ids.request();
        self.turn = Turn::Answering(Answering::new(request));
        shell.effects.push(Effect::SendRequest { chat: self.id, request });
    }

    fn flush_given(&mut self, shell: &mut Shell) {
        for message in std::mem::take(&mut self.given) {
            self.add_message(shell, message);
        }
    }

    fn add_message(&mut self, shell: &mut Shell, message: Message) {
        self.failed = false;
        self.history.push(message);
        if let Some(message) = self.history.messages().last() {
            shell.effects.push(Effect::AddMessage { chat: self.id, message: Arc::clone(message) });
        }
    }

    fn notify(&self, shell: &mut Shell, notice: Notice) {
        shell.effects.push(Effect::Notify { chat: self.id, notice });
    }

    fn ignore_late(&self, shell: &mut Shell, what: &str) {
        let text = format!("a late event ({what}) for chat {} was dropped", self.id.0);
        shell.effects.push(Effect::Log { level: LogLevel::Debug, text });
    }
}
