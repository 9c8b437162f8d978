//! The engine: events in, effects out. It owns the chats and knows no clock, file, thread, handle or Lua value.
//!
//! What is around it (`bridge`, `runtime`) performs the effects in order and brings what they cause back as events. In here
//! the arrows run down: this file, `chat`, `turn`, `call`, then `effect` and `event`.

pub mod call;
pub mod chat;
pub mod effect;
pub mod event;
pub mod restore;
pub mod saved;
pub mod turn;

use std::collections::BTreeMap;

use crate::gate::approvals::Approval;
use crate::message::History;
use chat::{Chat, Ids, Shell};
use effect::{Effect, LogLevel, Notice};
use event::{ChatId, Event};

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
        let mut shell = Shell { now_ms, ids: &mut self.ids, effects: &mut effects };
        let id = match event {
            Event::ChatOpened { chat, settings } => {
                self.chats.insert(chat, Chat::new(chat, settings));
                return effects;
            }
            Event::TimePassed => {
                for chat in self.chats.values_mut() {
                    chat.time_passed(&mut shell);
                }
                self.chats.retain(|_, chat| !chat.is_closed());
                return effects;
            }
            Event::ThreadPanicked { text } => return vec![Effect::Log { level: LogLevel::Error, text }],
            Event::ApprovalsFailed { text } => return vec![Effect::Tell { text }],
            ref event => event.chat(),
        };
        let Some(chat) = id.and_then(|id| self.chats.get_mut(&id)) else {
            return late(event);
        };
        let shell = &mut shell;
        match event {
            Event::ChatOpened { .. } | Event::TimePassed => {}
            Event::ThreadPanicked { .. } | Event::ApprovalsFailed { .. } => {}
            Event::AutoSet { auto, .. } => chat.auto_set(auto),
            Event::ApprovalForgotten { approval, .. } => chat.approval_forgotten(&approval),
            Event::Submitted { .. } => chat.submitted(shell),
            Event::InputTaken { text, typed, .. } => chat.input_taken(shell, text, typed),
            Event::Retried { .. } => chat.retried(shell),
            Event::LastMessageTaken { .. } => chat.last_message_taken(shell),
            Event::MessageGiven { role, content, visible, attachments, .. } => {
                chat.message_given(shell, role, (content, attachments), visible);
            }
            Event::CallsRequested { calls, tools, submit, .. } => chat.calls_requested(shell, calls, tools, submit),
            Event::ChatRestored { restored, .. } => chat.restored(shell, restored),
            Event::SavingChanged { text, .. } => chat.saving_changed(shell, text),
            Event::RequestStarted { request, tools, .. } => chat.request_started(shell, request, tools),
            Event::RequestItems { request, items, .. } => chat.request_items(shell, request, items),
            Event::RequestNoted { request, text, .. } => chat.request_noted(shell, request, Notice::Request(text)),
            Event::RequestRetried { request, retry, .. } => {
                chat.request_noted(shell, request, Notice::Retrying(retry));
            }
            Event::RequestFinished { request, .. } => chat.request_finished(shell, request),
            Event::RequestFailed { request, message, .. } => chat.request_failed(shell, request, message),
            Event::CallsChecked { calls, .. } => chat.calls_checked(shell, calls),
            Event::CallPrepared { call, preparation, .. } => chat.call_prepared(shell, call, preparation),
            Event::CallNotPrepared { call, message, on_exit, .. } => {
                chat.call_not_prepared(shell, call, message, on_exit);
            }
            Event::CallDenied { call, message, .. } => chat.call_denied(shell, call, message),
            Event::PermissionsLoaded { permissions, .. } => chat.permissions_loaded(shell, permissions),
            Event::FactFound { call, fact, found, .. } => chat.fact_found(shell, call, fact, found),
            Event::ApprovalAnswered { call, answer, .. } => chat.approval_answered(shell, call, answer),
            Event::CmdFinished { call, cmd, succeeded, .. } => chat.cmd_finished(shell, call, cmd, succeeded),
            Event::CommandStarted { call, cmd, .. } => chat.command_started(shell, call, cmd),
            Event::CommandFinished { call, cmd, succeeded, text, .. } => {
                chat.command_finished(shell, call, cmd, succeeded, text);
            }
            Event::OutputAdded { call, content, .. } => chat.output_added(shell, call, content),
            Event::MediaAdded { call, media, .. } => chat.media_added(shell, call, media),
            Event::OutputFinished { call, outcome, .. } => chat.output_finished(shell, call, outcome),
            Event::ExitFinished { call, .. } => chat.exit_finished(shell, call),
            Event::ContentCut { call, content, media, .. } => chat.content_cut(shell, call, content, media),
            Event::CallSkipped { .. } => chat.call_skipped(shell),
            Event::ChatStopped { .. } => chat.stopped(shell),
            Event::ChatCleared { .. } => chat.cleared(shell),
            Event::ChatClosed { .. } => chat.closed(shell),
        }
        if chat.is_closed() {
            id.and_then(|id| self.chats.remove(&id));
        }
        effects
    }
}

/// For a chat that is gone.
fn late(event: Event) -> Vec<Effect> {
    let text = "a late event for a chat that is gone was dropped".to_owned();
    let mut effects = vec![Effect::Log { level: LogLevel::Debug, text }];
    if let Event::RequestStarted { chat, request, .. } = event {
        effects.push(Effect::AbortRequest { chat, request });
    }
    effects
}

#[cfg(test)]
mod tests;
