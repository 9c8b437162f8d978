//! One chat: its history, what the user let it remember, and the turn that runs in it. What the user sends is handled in
//! `input.rs`, what the model answers in `answer.rs`, its calls in `calls.rs`.

mod answer;
mod calls;
mod comeback;
mod input;

use std::collections::{HashSet, VecDeque};
use std::fmt::Display;
use std::sync::Arc;

use crate::engine::call::Abort;
use crate::engine::effect::{ChatEffect, Effect, LogLevel, Notice, TurnEnd, ignore_late};
use crate::engine::event::{ChatEvent, ChatId, ChatSettings, RequestId, RequestedCall};
use crate::engine::turn::batch::Repeats;
use crate::engine::turn::{Answering, Checking, Draft, Turn};
use crate::gate::Permissions;
use crate::gate::approvals::{Approval, Approvals};
use crate::message::{History, Message, Opaque};
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

/// One step of a chat: what handling an event takes, and where its effects go.
pub struct Step<'a> {
    chat: ChatId,
    now_ms: u64,
    ids: &'a mut Ids,
    effects: &'a mut Vec<Effect>,
}

impl<'a> Step<'a> {
    /// A step of a chat at a time.
    pub fn new(chat: ChatId, now_ms: u64, ids: &'a mut Ids, effects: &'a mut Vec<Effect>) -> Self {
        Self { chat, now_ms, ids, effects }
    }

    fn emit(&mut self, effect: ChatEffect) {
        self.effects.push(Effect::chat(self.chat, effect));
    }

    fn notify(&mut self, notice: Notice) {
        self.emit(ChatEffect::Notify(notice));
    }

    fn log(&mut self, level: LogLevel, text: String) {
        self.effects.push(Effect::Log { level, text });
    }

    fn ignore_late(&mut self, what: impl Display) {
        ignore_late(self.effects, format_args!("({what}) for chat {}", self.chat.0));
    }
}

/// One chat.
#[derive(Clone, Debug)]
pub struct Chat {
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
    pub fn new(settings: ChatSettings) -> Self {
        Self {
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

    /// Advances the chat by one event.
    pub fn handle(&mut self, step: &mut Step, event: ChatEvent) {
        match event {
            ChatEvent::Opened(_) => step.ignore_late("opening"),
            ChatEvent::Submitted => self.submitted(step),
            ChatEvent::InputTaken { text, typed } => self.input_taken(step, text, typed),
            ChatEvent::Retried => self.retried(step),
            ChatEvent::LastMessageTaken => self.last_message_taken(step),
            ChatEvent::MessageGiven { role, content, visible, attachments } => {
                self.message_given(step, role, (content, attachments), visible);
            }
            ChatEvent::CallsRequested { calls, tools, submit } => self.calls_requested(step, calls, tools, submit),
            ChatEvent::Restored(restored) => self.restored(step, restored),
            ChatEvent::SavingChanged(saving) => step.notify(Notice::Saving(saving)),
            ChatEvent::Request { request, event } => self.request_event(step, request, event),
            ChatEvent::CallsChecked(calls) => self.calls_checked(step, calls),
            ChatEvent::Call { call, event } => self.with_batch(step, |batch, ctx| batch.handle(ctx, call, event)),
            // A question that is open stays open: only its answers answer it.
            ChatEvent::AutoSet { auto } => self.auto = auto,
            ChatEvent::ApprovalForgotten(approval) => self.approval_forgotten(&approval),
            ChatEvent::ApprovalGiven(approval) => self.approvals.remember(approval, step.now_ms),
            ChatEvent::PermissionsLoaded(permissions) => self.permissions_loaded(step, permissions),
            ChatEvent::CallSkipped => self.call_skipped(step),
            ChatEvent::Stopped => self.stopped(step),
            ChatEvent::Cleared => {
                self.clearing = true;
                self.stop_and_settle(step);
            }
            ChatEvent::Closed => {
                self.closing = true;
                self.stop_and_settle(step);
            }
        }
    }

    fn approval_forgotten(&mut self, approval: &Approval) {
        self.approvals.forget(approval);
    }

    /// Calls that the model did not make.
    fn calls_requested(&mut self, step: &mut Step, calls: Vec<RequestedCall>, tools: Arc<[OfferedTool]>, submit: bool) {
        if calls.is_empty() || self.closing {
            return;
        }
        let idle = self.is_idle();
        self.requested.push_back(Requested { calls, tools, submit });
        if idle {
            step.emit(ChatEffect::StartTurn);
            self.run_requested(step);
        }
    }

    /// Runs the calls that were requested first. False: there are none.
    fn run_requested(&mut self, step: &mut Step) -> bool {
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
        let checking = Checking {
            content: String::new(),
            reasoning: String::new(),
            opaque: None,
            calls: Vec::new(),
            tools,
            submit,
        };
        self.check(step, checking, drafts);
        true
    }

    /// The user stops the chat.
    fn stopped(&mut self, step: &mut Step) {
        self.drop_requested(step);
        match std::mem::take(&mut self.turn) {
            Turn::Idle => {}
            Turn::TakingInput { begun, stopped: _ } => self.turn = Turn::TakingInput { begun, stopped: true },
            Turn::Answering(answering) => {
                step.emit(ChatEffect::AbortRequest { request: answering.request });
                self.finish_request(step, &answering, false);
                self.keep_text(step, answering.content, answering.reasoning, None);
                self.finish_turn(step, TurnEnd::Stopped);
            }
            Turn::Checking(checking) => {
                self.keep_text(step, checking.content, checking.reasoning, None);
                self.finish_turn(step, TurnEnd::Stopped);
            }
            Turn::Running(batch) => {
                self.turn = Turn::Running(batch);
                self.with_batch(step, |batch, ctx| {
                    batch.abort_queue(Abort::Stopped);
                    batch.each_active(|call| call.abort(ctx, Abort::Stopped));
                });
            }
        }
    }

    fn stop_and_settle(&mut self, step: &mut Step) {
        // A turn that ends settles by itself.
        if self.is_idle() { self.settle(step) } else { self.stopped(step) }
    }

    /// Keeps the text of an answer without calls, if there is any. Calls of an answer that did not finish are dropped:
    /// they may be incomplete, and none ran.
    fn keep_text(&mut self, step: &mut Step, content: String, reasoning: String, opaque: Option<Opaque>) {
        if !content.is_empty() || opaque.is_some() {
            self.add_message(step, Message::Llm { content, reasoning, calls: Vec::new(), opaque });
        }
    }

    fn finish_turn(&mut self, step: &mut Step, end: TurnEnd) {
        self.turn = Turn::Idle;
        self.failed = end == TurnEnd::Failed;
        self.drop_requested(step);
        self.flush_given(step);
        let waiting = std::mem::take(&mut self.waiting);
        let next = waiting && end == TurnEnd::Done && !self.closing && !self.clearing;
        if waiting && !next {
            step.emit(ChatEffect::HoldInput { waiting: false });
        }
        step.emit(ChatEffect::FinishTurn { end });
        self.settle(step);
        if next {
            self.submitted(step);
        }
    }

    /// Calls that were requested for a turn that ends otherwise.
    fn drop_requested(&mut self, step: &mut Step) {
        for Requested { calls, .. } in std::mem::take(&mut self.requested) {
            let names: Vec<_> = calls.iter().map(|call| shown(&call.name)).collect();
            let (chat, names) = (step.chat.0, names.join(", "));
            step.log(LogLevel::Warn, format!("requested calls of chat {chat} were not run, its turn ended: {names}"));
        }
    }

    /// Does what waited for the end of the turn.
    fn settle(&mut self, step: &mut Step) {
        if !self.is_idle() {
            return;
        }
        self.flush_given(step);
        if std::mem::take(&mut self.clearing) {
            self.history.clear();
            self.wire_ids.clear();
            self.repeats.reset();
            step.emit(ChatEffect::ClearChat);
        }
        if self.closing {
            step.emit(ChatEffect::CloseChat);
        }
    }

    fn send(&mut self, step: &mut Step) {
        self.flush_given(step);
        let repair = self.history.repair();
        if repair != Default::default() {
            step.log(LogLevel::Error, format!("repaired the history of chat {}: {repair:?}", step.chat.0));
        }
        let request = step.ids.request();
        self.turn = Turn::Answering(Answering::new(request));
        step.emit(ChatEffect::SendRequest { request });
    }

    fn flush_given(&mut self, step: &mut Step) {
        for message in std::mem::take(&mut self.given) {
            self.add_message(step, message);
        }
    }

    fn add_message(&mut self, step: &mut Step, message: Message) {
        self.failed = false;
        self.history.push(message);
        if let Some(message) = self.history.messages().last() {
            step.emit(ChatEffect::AddMessage { message: Arc::clone(message) });
        }
    }
}
