//! The calls of a chat: what happens to each goes to the batch that runs, and what the batch needs next is decided here.

use std::sync::Arc;

use super::{Chat, Step};
use crate::engine::call::{Abort, Context};
use crate::engine::effect::{ChatEffect, Notice, TurnEnd};
use crate::engine::turn::Turn;
use crate::engine::turn::batch::Batch;
use crate::gate::Permissions;
use crate::tool::shown;

impl Chat {
    /// The permission rules are these from now on.
    pub(super) fn permissions_loaded(&mut self, step: &mut Step, permissions: Arc<Permissions>) {
        self.permissions = Some(permissions);
        if let Turn::Running(_) = self.turn {
            self.with_batch(step, |batch, ctx| batch.each_active(|call| call.permissions_loaded(ctx)));
        }
    }

    /// The user ends the running calls; the queue goes on.
    pub(super) fn call_skipped(&mut self, step: &mut Step) {
        let mut skipped = false;
        if let Turn::Running(_) = self.turn {
            self.with_batch(step, |batch, ctx| {
                batch.each_active(|call| {
                    if call.is_running() {
                        skipped = true;
                        call.abort(ctx, Abort::Skipped);
                    }
                });
            });
        }
        if !skipped {
            step.notify(Notice::NothingToSkip);
        }
    }

    /// Deadlines.
    pub fn time_passed(&mut self, step: &mut Step) {
        if self.deadline_ms().is_some_and(|deadline_ms| deadline_ms <= step.now_ms) {
            self.with_batch(step, |batch, ctx| batch.each_active(|call| call.time_passed(ctx)));
        }
    }

    /// Lets the running batch handle something, then goes on with it.
    pub(super) fn with_batch(&mut self, step: &mut Step, act: impl FnOnce(&mut Batch, &mut Context)) {
        let Turn::Running(batch) = &mut self.turn else { return step.ignore_late("call") };
        let mut ctx = Context {
            chat: step.chat,
            now_ms: step.now_ms,
            rest: batch.queued(),
            approvals: &mut self.approvals,
            auto: self.auto,
            permissions: self.permissions.as_ref(),
            settings: &self.settings,
            effects: step.effects,
        };
        act(batch, &mut ctx);
        batch.advance(&mut ctx, &mut self.history, &mut self.repeats, self.settings.max_parallel.max(1));
        if batch.is_done() {
            self.finish_batch(step);
        }
    }

    fn finish_batch(&mut self, step: &mut Step) {
        let batch = match std::mem::take(&mut self.turn) {
            Turn::Running(batch) => batch,
            other => return self.turn = other,
        };
        let failed = batch.has_failed();
        step.emit(ChatEffect::FinishBatch { failed });
        let end = match batch.aborted_by() {
            Some(Abort::Cancelled) => Some(TurnEnd::Cancelled),
            Some(Abort::Stopped | Abort::Skipped | Abort::TimedOut { .. }) => Some(TurnEnd::Stopped),
            None => None,
        };
        if let Some(end) = end {
            return self.finish_turn(step, end);
        }
        let (submit, stuck) = (batch.submit, batch.stuck);
        let wanted = if failed { self.settings.auto_submit_errors } else { self.settings.auto_submit_success };
        let send = submit && wanted && stuck.is_none();
        if let Some(next) = self.requested.front_mut() {
            // Whatever asked for those calls, the model waits for the results of its own.
            next.submit |= send;
            self.run_requested(step);
        } else if let Some(name) = stuck.filter(|_| submit) {
            step.notify(Notice::RepeatedCall { name: shown(&name).into_owned() });
            self.finish_turn(step, TurnEnd::Held);
        } else if !send {
            self.finish_turn(step, if submit { TurnEnd::Held } else { TurnEnd::Done });
        } else if self.waiting {
            self.waiting = false;
            self.turn = Turn::TakingInput { begun: true, stopped: false };
            step.emit(ChatEffect::TakeInput);
        } else {
            self.send(step);
        }
    }
}
