//! The calls of one answer: which run when, and their results in call order.

use std::sync::Arc;

use crate::engine::call::{Abort, Carried, Context, ToolCall};
use crate::engine::effect::{ChatEffect, ignore_late};
use crate::engine::event::{Answer, CallEvent};
use crate::gate::DOOM_LOOP;
use crate::message::History;
use crate::tool::CallId;

/// The calls of one answer, from the first that runs to the last result.
#[derive(Clone, Debug)]
pub struct Batch {
    calls: Vec<ToolCall>,
    /// The first call that was not started.
    next: usize,
    /// Started calls without a result.
    active: Vec<usize>,
    /// How many results are in the history.
    reported: usize,
    /// Why the calls still queued do not run.
    aborted: Option<Abort>,
    /// What the last call that is over hands on to the next of its row.
    carried: Option<(usize, Carried)>,
    /// Whether the results are wanted by the model.
    pub submit: bool,
    /// A tool whose call cannot run and was made again and again: sending more would never end (R153).
    pub stuck: Option<String>,
}

/// The last call of a chat and how many times in a row it was made, successful or not.
#[derive(Clone, Debug, Default)]
pub struct Repeats {
    last: Option<(String, u64)>,
    count: u32,
}

impl Repeats {
    /// A user message: whatever comes next is wanted anew.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    fn note(&mut self, call: &ToolCall) -> u32 {
        match &self.last {
            Some((name, fingerprint)) if *name == call.name && *fingerprint == call.fingerprint => self.count += 1,
            _ => {
                self.last = Some((call.name.clone(), call.fingerprint));
                self.count = 1;
            }
        }
        self.count
    }
}

impl Batch {
    /// A batch that has not started.
    pub fn new(mut calls: Vec<ToolCall>, submit: bool) -> Self {
        find_rows(&mut calls);
        Self { calls, next: 0, active: Vec::new(), reported: 0, aborted: None, carried: None, submit, stuck: None }
    }

    /// How many calls wait for their turn.
    pub fn queued(&self) -> usize {
        self.calls.len() - self.next
    }

    /// Whether every call has its result in the history.
    pub fn is_done(&self) -> bool {
        self.reported == self.calls.len()
    }

    /// Whether any call failed; only meaningful when done.
    pub fn has_failed(&self) -> bool {
        self.calls.iter().filter_map(ToolCall::result).any(|result| result.status.is_failure())
    }

    /// Why the calls that were still queued did not run, if they did not.
    pub fn aborted_by(&self) -> Option<Abort> {
        self.aborted
    }

    /// Hands an event to its call, if that was started and has no result yet.
    pub fn handle(&mut self, ctx: &mut Context, call: CallId, event: CallEvent) {
        let Some(&at) = self.active.iter().find(|&&at| self.calls[at].id == call) else {
            return ignore_late(ctx.effects, format_args!("(call {}) for chat {}", call.0, ctx.chat.0));
        };
        let call = &mut self.calls[at];
        let cancels = event == CallEvent::Answered(Answer::Cancel) && call.is_asking();
        call.handle(ctx, event);
        if cancels {
            self.abort_queue(Abort::Cancelled);
        }
    }

    /// Every started call without a result.
    pub fn each_active(&mut self, mut visit: impl FnMut(&mut ToolCall)) {
        for &at in &self.active {
            visit(&mut self.calls[at]);
        }
    }

    /// When the batch must be looked at again.
    pub fn deadline_ms(&self) -> Option<u64> {
        self.active.iter().filter_map(|&at| self.calls[at].deadline_ms()).min()
    }

    /// The calls still queued will not run.
    pub fn abort_queue(&mut self, why: Abort) {
        // A stop after a cancel is a stop.
        self.aborted = Some(why);
    }

    /// Puts results into the history and starts what may run now.
    pub fn advance(&mut self, ctx: &mut Context, history: &mut History, repeats: &mut Repeats, max_parallel: usize) {
        loop {
            let (calls, carried) = (&self.calls, &mut self.carried);
            self.active.retain(|&at| {
                let is_over = calls[at].result().is_some();
                if let Some(row) = calls[at].row.filter(|_| is_over) {
                    *carried = Some((row, calls[at].carried));
                }
                !is_over
            });
            self.report(ctx, history);
            if self.next == self.calls.len() || !self.may_start(max_parallel) {
                return;
            }
            let at = self.next;
            self.next += 1;
            self.active.push(at);
            ctx.rest = self.queued();
            let call = &mut self.calls[at];
            if let Some((_, carried)) = self.carried.filter(|(row, _)| call.row == Some(*row)) {
                call.carried = carried;
            }
            match self.aborted {
                Some(why) => call.abort(ctx, why),
                None => {
                    call.repeated = repeats.note(call);
                    if call.repeated >= DOOM_LOOP && call.is_unusable() {
                        self.stuck = Some(call.name.clone());
                    }
                    call.start(ctx);
                }
            }
        }
    }

    fn may_start(&self, max_parallel: usize) -> bool {
        let mut active = self.active.iter().map(|&at| &self.calls[at]);
        let row = self.calls[self.next].row;
        if row.is_some() && active.clone().any(|call| call.row == row) {
            return false;
        }
        if self.aborted.is_some() {
            return active.all(ToolCall::is_running);
        }
        self.active.is_empty()
            || (self.calls[self.next].parallel
                && self.active.len() < max_parallel
                && active.all(|call| call.parallel && !call.is_undecided()))
    }

    fn report(&mut self, ctx: &mut Context, history: &mut History) {
        while let Some(call) = self.calls.get(self.reported) {
            let Some(result) = call.result() else { return };
            history.push_shared(Arc::clone(&result.message));
            ctx.emit(ChatEffect::AddMessage { message: Arc::clone(&result.message) });
            self.reported += 1;
        }
    }
}

/// Finds the rows of calls that share their handlers: calls of one such tool, one behind the other. Those that cannot run
/// share nothing, and one alone has nobody to share with.
fn find_rows(calls: &mut [ToolCall]) {
    let same = |one: &ToolCall, next: &ToolCall| one.handlers_once && next.handlers_once && one.name == next.name;
    for (number, row) in calls.chunk_by_mut(same).enumerate() {
        let usable = row.iter().filter(|call| !call.is_unusable()).count();
        if usable > 1 {
            row.iter_mut().for_each(|call| call.row = Some(number));
            if let Some(last) = row.iter_mut().rev().find(|call| !call.is_unusable()) {
                last.ends_row = true;
            }
        }
    }
}
