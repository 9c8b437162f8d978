//! A saved chat comes back into one that is empty.

use std::sync::Arc;

use super::{Chat, Step};
use crate::engine::effect::{ChatEffect, Notice};
use crate::engine::restore::Restored;
use crate::message::Message;

impl Chat {
    /// Takes over a saved chat; only while this one is empty.
    pub(super) fn restored(&mut self, step: &mut Step, mut restored: Restored) {
        if !self.is_idle() || !self.history.messages().is_empty() {
            return step.ignore_late("saved chat");
        }
        restored.history.repair();
        let messages = restored.history.messages();
        for (at, message) in messages.iter().enumerate() {
            step.emit(ChatEffect::RestoreMessage { message: Arc::clone(message) });
            let Message::Llm { calls, .. } = message.as_ref() else { continue };
            // Paired: the results follow at once, in the order of the calls.
            for (index, (call, result)) in calls.iter().zip(&messages[at + 1..]).enumerate() {
                self.wire_ids.insert(call.wire_id.clone());
                let look = restored.looks.remove(&call.wire_id);
                let (message, result) = (Arc::clone(message), Arc::clone(result));
                step.emit(ChatEffect::RestoreCall { message, index, result, look });
            }
        }
        if let Some(interruption) = restored.interruption() {
            step.notify(Notice::Restored(interruption));
        }
        self.failed = restored.interrupted;
        self.history = restored.history;
    }
}
