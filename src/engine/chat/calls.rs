//! The calls of a chat: what happens to each goes to the batch that runs, and what the batch needs next is decided here.

use super::{Chat, Shell};
use crate::engine::call::{Context, End, ToolCall};
use crate::engine::effect::{Effect, Notice, TurnEnd};
use crate::engine::event::{Answer, OutputOutcome};
use crate::engine::turn::Turn;
use crate::engine::turn::batch::Batch;
use crate::gate::{Fact, Found};
use crate::media::Given;
use crate::tool::{CallId, KeptMedia, Preparation, shown};

impl Chat {
    /// Lua made its copy of a tool.
    pub fn call_prepared(&mut self, shell: &mut Shell, call: CallId, preparation: Preparation) {
        self.with_call(shell, call, |call, ctx| call.prepared(ctx, preparation));
    }

    /// Lua could not make its copy.
    pub fn call_not_prepared(&mut self, shell: &mut Shell, call: CallId, message: String, on_exit: bool) {
        self.with_call(shell, call, |call, ctx| call.not_prepared(ctx, message, on_exit));
    }

    /// The user's own settings forbid a call.
    pub fn call_denied(&mut self, shell: &mut Shell, call: CallId, message: String) {
        self.with_call(shell, call, |call, ctx| call.denied(ctx, message));
    }

    /// A fact for the gate.
    pub fn fact_found(&mut self, shell: &mut Shell, call: CallId, fact: Fact, found: Option<Found>) {
        self.with_call(shell, call, |call, ctx| call.fact_found(ctx, fact, found));
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

    /// A tool added a picture, a sound or a file.
    pub fn media_added(&mut self, shell: &mut Shell, call: CallId, media: Given) {
        self.with_call(shell, call, |call, ctx| call.media_added(ctx, media));
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
    pub fn content_cut(&mut self, shell: &mut Shell, call: CallId, content: String, media: KeptMedia) {
        self.with_call(shell, call, |call, ctx| call.content_cut(ctx, content, media));
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
    pub(super) fn with_batch(&mut self, shell: &mut Shell, act: impl FnOnce(&mut Batch, &mut Context) -> bool) {
        let Turn::Running(batch) = &mut self.turn else { return self.ignore_late(shell, "call") };
        let mut ctx = Context {
            chat: self.id,
            now_ms: shell.now_ms,
            rest: batch.queued(),
            approvals: &mut self.approvals,
            auto: self.auto,
            permissions: self.permissions.as_ref(),
            settings: &self.settings,
            effects: shell.effects,
        };
        if !act(batch, &mut ctx) {
            return self.ignore_late(shell, "call");
        }
        batch.advance(&mut ctx, &mut self.history, &mut self.repeats, self.settings.max_parallel.max(1));
        if batch.is_done() {
            self.finish_batch(shell);
        }
    }

    fn finish_batch(&mut self, shell: &mut Shell) {
        let Turn::Running(batch) = &mut self.turn else { return };
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
}
