//! What the user sends, and what others add to the conversation.

use super::{Chat, Step};
use crate::engine::effect::{ChatEffect, Notice, TurnEnd};
use crate::engine::turn::Turn;
use crate::message::{Attachment, Message, Role};

impl Chat {
    /// The user sends.
    pub(super) fn submitted(&mut self, step: &mut Step) {
        if self.is_idle() {
            self.turn = Turn::TakingInput { begun: false, stopped: false };
            step.emit(ChatEffect::TakeInput);
        } else if !self.waiting && !self.closing {
            self.waiting = true;
            step.emit(ChatEffect::HoldInput { waiting: true });
        }
    }

    /// The input was read.
    pub(super) fn input_taken(&mut self, step: &mut Step, text: Option<String>, typed: Option<String>) {
        let Turn::TakingInput { begun, stopped } = self.turn else { return step.ignore_late("input") };
        self.turn = Turn::Idle;
        let taken = text.is_some();
        if let Some(content) = text {
            self.repeats.reset();
            self.add_message(step, Message::User { content, visible: true, typed, attachments: vec![] });
        }
        let has_turn = taken || begun;
        // Half an answer would be taken for a whole one.
        if !has_turn && !stopped && self.failed && self.history.take_back() {
            step.emit(ChatEffect::TakeBackMessage);
        }
        if !has_turn && (stopped || !self.awaits_answer()) {
            if !stopped {
                step.notify(Notice::NothingToSend);
            }
            return self.settle(step);
        }
        if !begun {
            step.emit(ChatEffect::StartTurn);
        }
        if stopped { self.finish_turn(step, TurnEnd::Stopped) } else { self.send(step) }
    }

    /// The user wants the last answer anew.
    pub(super) fn retried(&mut self, step: &mut Step) {
        if !self.is_idle() {
            return step.notify(Notice::StillRunning);
        }
        while self.history.take_back() {
            step.emit(ChatEffect::TakeBackMessage);
        }
        if !self.awaits_answer() {
            return step.notify(Notice::NothingToSend);
        }
        self.repeats.reset();
        step.emit(ChatEffect::StartTurn);
        self.send(step);
    }

    /// The user wants to write their last message anew.
    pub(super) fn last_message_taken(&mut self, step: &mut Step) {
        if !self.is_idle() {
            return step.notify(Notice::StillRunning);
        }
        let Some(kept) = self.history.last_visible_user() else { return step.notify(Notice::NothingToEdit) };
        self.history.truncate(kept);
        self.repeats.reset();
        self.failed = false;
        step.emit(ChatEffect::TruncateHistory { kept });
    }

    /// Whether the history ends with something the model has not answered.
    fn awaits_answer(&self) -> bool {
        matches!(self.history.last(), Some(Message::User { .. } | Message::Tool { .. }))
    }

    /// A message from outside.
    pub(super) fn message_given(
        &mut self,
        step: &mut Step,
        role: Role,
        (content, attachments): (String, Vec<Attachment>),
        visible: bool,
    ) {
        let message = match role {
            Role::System => Message::System { content },
            Role::User => Message::User { content, visible, typed: None, attachments },
            Role::Llm => Message::Llm { content, reasoning: String::new(), calls: Vec::new(), opaque: None },
            // A result belongs to a call, and calls come from the model: one alone would be an orphan.
            Role::Tool => return step.ignore_late("tool message"),
        };
        if self.is_idle() {
            self.add_message(step, message);
        } else {
            self.given.push(message);
        }
    }
}
