//! The engine: events in, effects out. It owns the chats and knows no clock, file, thread, handle or Lua value.
//!
//! What is around it (`bridge`, `runtime`) performs the effects in order and brings what they cause back as events. In here
//! the arrows run down: this file, `chat`, `turn`, `call`, then `effect` and `event`.

pub mod call;
pub mod chat;
pub mod effect;
pub mod event;
pub mod outcome;
pub mod restore;
pub mod saved;
pub mod turn;

use std::collections::BTreeMap;

use crate::gate::approvals::Approval;
use crate::message::History;
use chat::{Chat, Ids, Step};
use effect::{ChatEffect, Effect, LogLevel, ignore_late};
use event::{ChatEvent, ChatId, Event, RequestEvent};

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
        match event {
            Event::Addressed { chat, event: ChatEvent::Opened(settings) } => {
                self.chats.insert(chat, Chat::new(settings));
            }
            Event::Addressed { chat: id, event } => match self.chats.get_mut(&id) {
                Some(chat) => {
                    chat.handle(&mut Step::new(id, now_ms, &mut self.ids, &mut effects), event);
                    if chat.is_closed() {
                        self.chats.remove(&id);
                    }
                }
                None => ignore_for_closed(id, &event, &mut effects),
            },
            Event::TimePassed => {
                for (id, chat) in &mut self.chats {
                    chat.time_passed(&mut Step::new(*id, now_ms, &mut self.ids, &mut effects));
                }
                self.chats.retain(|_, chat| !chat.is_closed());
            }
            Event::ThreadPanicked { text } => effects.push(Effect::Log { level: LogLevel::Error, text }),
            Event::ApprovalsFailed { text } => effects.push(Effect::Tell { text }),
        }
        effects
    }
}

/// An event for a chat that is gone. A request that started meanwhile is ended.
fn ignore_for_closed(chat: ChatId, event: &ChatEvent, effects: &mut Vec<Effect>) {
    ignore_late(effects, format_args!("for chat {}, which is gone", chat.0));
    if let ChatEvent::Request { request, event: RequestEvent::Started { .. } } = event {
        effects.push(Effect::chat(chat, ChatEffect::AbortRequest { request: *request }));
    }
}

#[cfg(test)]
mod tests;
