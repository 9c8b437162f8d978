//! One chat: its history, what the user let it remember, and the turn that runs in it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::adapter::{EndReason, Item};
use crate::engine::{
    Answer, ChatId, ChatSettings, Effect, LogLevel, Notice, OutputOutcome, RequestId, RequestedCall, TurnEnd,
};
use crate::gate::Fact;
use crate::gate::approvals::Approvals;
use crate::message::{Call, History, Message, Role};
use crate::tool::{ArgumentsError, CallId, CheckedCall, OfferedTool, Preparation, UncheckedCall, shown};
use crate::turn::batch::{Batch, Repeats};
use crate::turn::call::{Context, End, ToolCall};
use crate::turn::{Answering, Checking, Draft, Turn, looks_like_call};

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
    /// The last request failed: sending nothing sends it again.
    failed: bool,
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
            repeats: Repeats::default(),
            turn: Turn::Idle,
            waiting: false,
            given: Vec::new(),
            requested: VecDeque::new(),
            wire_ids: HashSet::new(),
            failed: false,
            clearing: false,
            closing: false,
        }
    }

    /// What was said.
    pub fn history(&self) -> &History {
        &self.history
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
    pub fn input_taken(&mut self, shell: &mut Shell, text: Option<String>) {
        let Turn::TakingInput { begun, stopped } = self.turn else { return self.ignore_late(shell, "input") };
        self.turn = Turn::Idle;
        let taken = text.is_some();
        if let Some(content) = text {
            self.repeats.reset();
            self.add_message(shell, Message::User { content, visible: true });
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

    /// Whether the history ends with something the model has not answered.
    fn awaits_answer(&self) -> bool {
        matches!(self.history.last(), Some(Message::User { .. } | Message::Tool { .. }))
    }

    /// A message from outside.
    pub fn message_given(&mut self, shell: &mut Shell, role: Role, content: String, visible: bool) {
        let message = match role {
            Role::System => Message::System { content },
            Role::User => Message::User { content, visible },
            Role::Llm => Message::Llm { content, reasoning: String::new(), calls: Vec::new() },
            // A result belongs to a call, and calls come from the model: one alone would be an orphan.
            Role::Tool => return self.ignore_late(shell, "tool message"),
        };
        if self.is_idle() {
            self.add_message(shell, message);
        } else {
            self.given.push(message);
        }
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
            Checking { content: String::new(), reasoning: String::new(), calls: Vec::new(), tools, submit },
            drafts,
        );
        true
    }

    /// A request is on its way.
    pub fn request_started(&mut self, shell: &mut Shell, request: RequestId, tools: Arc<[OfferedTool]>) {
        match &mut self.turn {
            Turn::Answering(answering) if answering.request == request => answering.tools = tools,
            _ => {
                // The end came before it had begun.
                shell.effects.push(Effect::AbortRequest { chat: self.id, request });
                self.ignore_late(shell, "request");
            }
        }
    }

    /// Pieces of an answer. One of them may be the request's failure.
    pub fn request_items(&mut self, shell: &mut Shell, request: RequestId, items: Vec<Item>) {
        let chat = self.id;
        match &mut self.turn {
            Turn::Answering(answering) if answering.request == request => {
                for item in items {
                    if !answering.take(&item) {
                        let text = "arguments of a call that never began were dropped".to_owned();
                        shell.effects.push(Effect::Log { level: LogLevel::Warn, text });
                    }
                    match item {
                        Item::Text(text) => shell.effects.push(Effect::ShowText { chat, text }),
                        Item::Reasoning(text) => shell.effects.push(Effect::ShowReasoning { chat, text }),
                        Item::Failed(message) => {
                            // What else the server says is not wanted any more.
                            shell.effects.push(Effect::AbortRequest { chat, request });
                            return self.request_failed(shell, request, message);
                        }
                        Item::CallStarted { .. }
                        | Item::CallArguments { .. }
                        | Item::CallExtra { .. }
                        | Item::Usage { .. }
                        | Item::End { .. } => {}
                    }
                }
            }
            _ => self.ignore_late(shell, "answer"),
        }
    }

    /// Something about a request for the user.
    pub fn request_noted(&mut self, shell: &mut Shell, request: RequestId, text: String) {
        match &self.turn {
            Turn::Answering(answering) if answering.request == request => self.notify(shell, Notice::Request(text)),
            _ => self.ignore_late(shell, "note"),
        }
    }

    /// An answer is complete.
    pub fn request_finished(&mut self, shell: &mut Shell, request: RequestId) {
        let Some(answering) = self.take_answering(request) else { return self.ignore_late(shell, "answer") };
        self.finish_request(shell, &answering, false);
        let Answering { tools, content, reasoning, drafts, end, .. } = answering;
        match end {
            Some(EndReason::Length) => self.notify(shell, Notice::LengthStop),
            Some(EndReason::ContentFilter) => self.notify(shell, Notice::ContentFilter),
            None | Some(EndReason::Stop | EndReason::ToolCalls | EndReason::Other(_)) => {}
        }
        if drafts.is_empty() {
            if looks_like_call(&content, &tools) {
                self.notify(shell, Notice::CallAsText);
            }
            self.keep_text(shell, content, reasoning);
            if !self.run_requested(shell) {
                self.finish_turn(shell, TurnEnd::Done);
            }
        } else {
            self.check(shell, Checking { content, reasoning, calls: Vec::new(), tools, submit: true }, drafts);
        }
    }

    /// No (complete) answer.
    pub fn request_failed(&mut self, shell: &mut Shell, request: RequestId, message: String) {
        let Some(answering) = self.take_answering(request) else { return self.ignore_late(shell, "failure") };
        self.finish_request(shell, &answering, true);
        self.keep_text(shell, answering.content, answering.reasoning);
        self.notify(shell, Notice::RequestFailed(message));
        self.finish_turn(shell, TurnEnd::Failed);
    }

    fn take_answering(&mut self, request: RequestId) -> Option<Answering> {
        match std::mem::replace(&mut self.turn, Turn::Idle) {
            Turn::Answering(answering) if answering.request == request => Some(answering),
            other => {
                self.turn = other;
                None
            }
        }
    }

    fn finish_request(&self, shell: &mut Shell, answering: &Answering, failed: bool) {
        let Answering { request, usage, .. } = *answering;
        shell.effects.push(Effect::FinishRequest { chat: self.id, request, failed, usage });
    }

    /// Gives calls their ids and sends them to be checked.
    fn check(&mut self, shell: &mut Shell, mut checking: Checking, drafts: Vec<Draft>) {
        let tools: HashMap<&str, &OfferedTool> = checking.tools.iter().map(|tool| (tool.name.as_str(), tool)).collect();
        let mut unchecked = Vec::with_capacity(drafts.len());
        for mut draft in drafts {
            if draft.wire_id.is_empty() || !self.wire_ids.insert(draft.wire_id.clone()) {
                draft.wire_id = loop {
                    let id = shell.ids.made();
                    if self.wire_ids.insert(id.clone()) {
                        break id;
                    }
                };
            }
            let call = shell.ids.call();
            let tool = tools.get(draft.name.as_str());
            unchecked.push(UncheckedCall {
                call,
                schema: tool.and_then(|tool| tool.schema),
                numeric_strings: tool.is_some_and(|tool| tool.numeric_strings),
                arguments: draft.arguments.clone(),
            });
            checking.calls.push((call, draft));
        }
        self.turn = Turn::Checking(checking);
        shell.effects.push(Effect::CheckCalls { chat: self.id, calls: unchecked });
    }

    /// Arguments were checked: the answer joins the history, its calls run.
    pub fn calls_checked(&mut self, shell: &mut Shell, checked: Vec<CheckedCall>) {
        let checking = match std::mem::replace(&mut self.turn, Turn::Idle) {
            Turn::Checking(checking)
                if checking.calls.len() == checked.len()
                    && checking.calls.iter().zip(&checked).all(|((call, _), found)| *call == found.call) =>
            {
                checking
            }
            other => {
                self.turn = other;
                return self.ignore_late(shell, "check");
            }
        };
        let Checking { content, reasoning, calls: drafts, tools, submit } = checking;
        let offered: HashMap<&str, &OfferedTool> = tools.iter().map(|tool| (tool.name.as_str(), tool)).collect();
        let mut calls = Vec::with_capacity(drafts.len());
        let mut queue = Vec::with_capacity(drafts.len());
        for ((id, draft), checked) in drafts.into_iter().zip(checked) {
            let usable = !matches!(checked.arguments, Err(ArgumentsError::NotAnObject(_)));
            let blank = draft.arguments.trim().is_empty() || draft.arguments.trim() == "[]";
            let tool = offered.get(draft.name.as_str());
            calls.push(Call {
                wire_id: draft.wire_id.clone(),
                name: draft.name.clone(),
                arguments: if usable && !blank { draft.arguments } else { "{}".to_owned() },
                extra: draft.extra,
            });
            let fingerprint = checked.fingerprint;
            let arguments = match (tool, checked.arguments) {
                (None, _) => Err(not_found(&draft.name, &tools)),
                (Some(_), Ok(arguments)) => Ok(arguments),
                (Some(_), Err(error)) => Err(error.to_string()),
            };
            let parallel = tool.is_some_and(|tool| tool.parallel);
            queue.push(ToolCall::new(id, draft.wire_id, draft.name, parallel, fingerprint, arguments));
        }
        let added: Vec<_> = calls.iter().cloned().zip(queue.iter().map(|call| call.id)).collect();
        self.add_message(shell, Message::Llm { content, reasoning, calls });
        for (call, id) in added {
            let Call { wire_id, name, arguments, extra: _ } = call;
            shell.effects.push(Effect::AddCall { chat: self.id, call: id, wire_id, name, arguments });
        }
        shell.effects.push(Effect::StartBatch { chat: self.id, calls: queue.len() });
        self.turn = Turn::Running(Batch::new(queue, submit));
        self.advance(shell);
    }

    /// Lua made its copy of a tool.
    pub fn call_prepared(&mut self, shell: &mut Shell, call: CallId, preparation: Preparation) {
        self.with_call(shell, call, |call, ctx| call.prepared(ctx, preparation));
    }

    /// Lua could not make its copy.
    pub fn call_not_prepared(&mut self, shell: &mut Shell, call: CallId, message: String, on_exit: bool) {
        self.with_call(shell, call, |call, ctx| call.not_prepared(ctx, message, on_exit));
    }

    /// A fact for the gate.
    pub fn fact_found(&mut self, shell: &mut Shell, call: CallId, fact: Fact, answer: Option<bool>) {
        self.with_call(shell, call, |call, ctx| call.fact_found(ctx, fact, answer));
    }

    /// The user's answer.
    pub fn approval_answered(&mut self, shell: &mut Shell, call: CallId, answer: Answer) {
        let mut cancelled = false;
        self.with_batch(shell, |batch, ctx| {
            let Some(call) = batch.active_mut(call) else { return false };
            cancelled = call.answered(ctx, answer);
            if cancelled {
                batch.cut_queue(End::Cancelled);
            }
            true
        });
    }

    /// A cmd has its result.
    pub fn cmd_finished(&mut self, shell: &mut Shell, call: CallId, cmd: usize, succeeded: bool) {
        self.with_call(shell, call, |call, ctx| call.cmd_finished(ctx, cmd, succeeded));
    }

    /// A cmd is a command and runs.
    pub fn command_started(&mut self, shell: &mut Shell, call: CallId, cmd: usize) {
        self.with_call(shell, call, |call, ctx| call.command_started(ctx, cmd));
    }

    /// A command is over.
    pub fn command_finished(&mut self, shell: &mut Shell, call: CallId, cmd: usize, succeeded: bool, text: String) {
        self.with_call(shell, call, |call, ctx| call.command_finished(ctx, cmd, succeeded, text));
    }

    /// A tool added text.
    pub fn output_added(&mut self, shell: &mut Shell, call: CallId, content: String) {
        self.with_call(shell, call, |call, ctx| call.output_added(ctx, content));
    }

    /// An output function is over.
    pub fn output_finished(&mut self, shell: &mut Shell, call: CallId, outcome: OutputOutcome) {
        self.with_call(shell, call, |call, ctx| call.output_finished(ctx, outcome));
    }

    /// `on_exit` is over.
    pub fn exit_finished(&mut self, shell: &mut Shell, call: CallId) {
        self.with_call(shell, call, |call, ctx| call.exit_finished(ctx));
    }

    /// A result that was too long is cut.
    pub fn content_cut(&mut self, shell: &mut Shell, call: CallId, content: String) {
        self.with_call(shell, call, |call, ctx| call.content_cut(ctx, content));
    }

    /// The user ends the running calls; the queue goes on.
    pub fn call_skipped(&mut self, shell: &mut Shell) {
        let mut skipped = false;
        if let Turn::Running(_) = self.turn {
            self.with_batch(shell, |batch, ctx| {
                batch.each_active(|call| {
                    if call.is_running() {
                        skipped = true;
                        call.cut(ctx, End::Skipped);
                    }
                });
                true
            });
        }
        if !skipped {
            self.notify(shell, Notice::NothingToSkip);
        }
    }

    /// Deadlines.
    pub fn time_passed(&mut self, shell: &mut Shell) {
        if self.deadline_ms().is_some_and(|deadline_ms| deadline_ms <= shell.now_ms) {
            self.with_batch(shell, |batch, ctx| {
                batch.each_active(|call| call.time_passed(ctx));
                true
            });
        }
    }

    /// The user stops the chat.
    pub fn stopped(&mut self, shell: &mut Shell) {
        self.requested.clear();
        match &mut self.turn {
            Turn::Idle => {}
            Turn::TakingInput { stopped, .. } => *stopped = true,
            Turn::Answering(answering) => {
                let request = answering.request;
                let Some(answering) = self.take_answering(request) else { return };
                shell.effects.push(Effect::AbortRequest { chat: self.id, request });
                self.finish_request(shell, &answering, false);
                self.keep_text(shell, answering.content, answering.reasoning);
                self.finish_turn(shell, TurnEnd::Stopped);
            }
            Turn::Checking(checking) => {
                let content = std::mem::take(&mut checking.content);
                let reasoning = std::mem::take(&mut checking.reasoning);
                self.keep_text(shell, content, reasoning);
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
    fn keep_text(&mut self, shell: &mut Shell, content: String, reasoning: String) {
        if !content.is_empty() {
            self.add_message(shell, Message::Llm { content, reasoning, calls: Vec::new() });
        }
    }

    fn with_call(&mut self, shell: &mut Shell, call: CallId, act: impl FnOnce(&mut ToolCall, &mut Context)) {
        self.with_batch(shell, |batch, ctx| match batch.active_mut(call) {
            Some(call) => {
                act(call, ctx);
                true
            }
            None => false,
        });
    }

    /// Lets the running batch handle something, then goes on with it. `act` returns false for what came too late.
    fn with_batch(&mut self, shell: &mut Shell, act: impl FnOnce(&mut Batch, &mut Context) -> bool) {
        let Turn::Running(batch) = &mut self.turn else { return self.ignore_late(shell, "call") };
        let mut ctx = Context {
            chat: self.id,
            now_ms: shell.now_ms,
            rest: batch.queued(),
            approvals: &mut self.approvals,
            limits: &self.settings.limits,
            effects: shell.effects,
        };
        if act(batch, &mut ctx) { self.advance(shell) } else { self.ignore_late(shell, "call") }
    }

    fn advance(&mut self, shell: &mut Shell) {
        let Turn::Running(batch) = &mut self.turn else { return };
        let mut ctx = Context {
            chat: self.id,
            now_ms: shell.now_ms,
            rest: batch.queued(),
            approvals: &mut self.approvals,
            limits: &self.settings.limits,
            effects: shell.effects,
        };
        batch.advance(&mut ctx, &mut self.history, &mut self.repeats, self.settings.max_parallel.max(1));
        if !batch.is_done() {
            return;
        }
        let failed = batch.has_failed();
        let (cut, submit, stuck) = (batch.cut_by().cloned(), batch.submit, batch.stuck.take());
        self.turn = Turn::Idle;
        shell.effects.push(Effect::FinishBatch { chat: self.id, failed });
        match cut {
            Some(End::Cancelled) => self.finish_turn(shell, TurnEnd::Cancelled),
            Some(_) => self.finish_turn(shell, TurnEnd::Stopped),
            None => {
                let wanted = if failed { self.settings.auto_submit_errors } else { self.settings.auto_submit_success };
                let send = submit && wanted && stuck.is_none();
                if let Some(next) = self.requested.front_mut() {
                    // Whatever asked for those calls, the model waits for the results of its own.
                    next.submit |= send;
                    self.run_requested(shell);
                } else if let Some(name) = stuck.filter(|_| submit) {
                    self.notify(shell, Notice::RepeatedCall { name: shown(&name).into_owned() });
                    self.finish_turn(shell, TurnEnd::Held);
                } else if !send {
                    self.finish_turn(shell, if submit { TurnEnd::Held } else { TurnEnd::Done });
                } else if self.waiting {
                    self.waiting = false;
                    self.turn = Turn::TakingInput { begun: true, stopped: false };
                    shell.effects.push(Effect::TakeInput { chat: self.id });
                } else {
                    self.send(shell);
                }
            }
        }
    }

    fn finish_turn(&mut self, shell: &mut Shell, end: TurnEnd) {
        self.turn = Turn::Idle;
        self.failed = end == TurnEnd::Failed;
        self.requested.clear();
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

/// R030: what the model is told when it calls a tool that this chat does not offer.
fn not_found(name: &str, tools: &[OfferedTool]) -> String {
    /// So many names are told. Each wrong call tells them again.
    const MAX_NAMES: usize = 50;
    let name = shown(name);
    let names: Vec<_> = tools.iter().take(MAX_NAMES).map(|tool| format!("`{}`", shown(&tool.name))).collect();
    let more = match tools.len() - names.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    match names.len() {
        0 => format!("Tool \"{name}\" not found. No tools are available in this chat."),
        _ => format!("Tool \"{name}\" not found. Available tools: {}{more}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r030_the_answer_to_an_unknown_tool_is_short_whatever_its_name_and_however_many_there_are() {
        let offered = |count: usize| -> Vec<OfferedTool> {
            let name = |number: usize| format!("tool_{number}");
            let tool =
                |number| OfferedTool { name: name(number), schema: None, numeric_strings: false, parallel: false };
            (1..=count).map(tool).collect()
        };
        let text = not_found(&"é".repeat(1_000_000), &offered(2));
        assert_eq!(text, format!("Tool \"{}…\" not found. Available tools: `tool_1`, `tool_2`", "é".repeat(100)));
        assert!(not_found(&"é".repeat(100), &[]).starts_with(&format!("Tool \"{}\" not found.", "é".repeat(100))));
        assert!(not_found("x", &offered(50)).ends_with(", `tool_49`, `tool_50`"));
        assert!(not_found("x", &offered(1234)).ends_with(", `tool_49`, `tool_50`, and 1184 more"));
    }
}
