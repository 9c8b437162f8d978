//! The calls of one answer: which run when, and their results in call order.

use std::sync::Arc;

use crate::engine::call::{Carried, Context, End, ToolCall};
use crate::engine::effect::Effect;
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
    cut: Option<End>,
    /// What the last call that is over hands on to the next of its run.
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
        find_runs(&mut calls);
        Self { calls, next: 0, active: Vec::new(), reported: 0, cut: None, carried: None, submit, stuck: None }
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

    /// Why the batch was cut short, if it was.
    pub fn cut_by(&self) -> Option<&End> {
        self.cut.as_ref()
    }

    /// The call with this id, if it was started and has no result yet.
    pub fn active_mut(&mut self, call: CallId) -> Option<&mut ToolCall> {
        let calls = &mut self.calls;
        self.active.iter().find(|&&at| calls[at].id == call).copied().map(|at| &mut calls[at])
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
    pub fn cut_queue(&mut self, why: End) {
        // A stop after a cancel is a stop.
        self.cut = Some(why);
    }

    /// Puts results into the history and starts what may run now.
    pub fn advance(&mut self, ctx: &mut Context, history: &mut History, repeats: &mut Repeats, max_parallel: usize) {
        loop {
            let (calls, carried) = (&self.calls, &mut self.carried);
            self.active.retain(|&at| {
                let is_over = calls[at].result().is_some();
                if let Some(run) = calls[at].run.filter(|_| is_over) {
                    *carried = Some((run, calls[at].carried));
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
            if let Some((_, carried)) = self.carried.filter(|(run, _)| call.run == Some(*run)) {
                call.carried = carried;
            }
            match &self.cut {
                Some(why) => call.cut(ctx, why.clone()),
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
        let run = self.calls[self.next].run;
        if run.is_some() && active.clone().any(|call| call.run == run) {
            return false;
        }
        if self.cut.is_some() {
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
            ctx.emit(Effect::AddMessage { chat: ctx.chat, message: Arc::clone(&result.message) });
            self.reported += 1;
        }
    }
}

/// Finds the runs of calls that share their handlers: calls of one such tool in a row. Those that cannot run share nothing,
/// and one alone has nobody to share with.
fn find_runs(calls: &mut [ToolCall]) {
    let same = |one: &ToolCall, next: &ToolCall| one.handlers_once && next.handlers_once && one.name == next.name;
    for (number, run) in calls.chunk_by_mut(same).enumerate() {
        let usable = run.iter().filter(|call| !call.is_unusable()).count();
        if usable > 1 {
            run.iter_mut().for_each(|call| call.run = Some(number));
            if let Some(last) = run.iter_mut().rev().find(|call| !call.is_unusable()) {
                last.ends_run = true;
            }
        }
    }
}
