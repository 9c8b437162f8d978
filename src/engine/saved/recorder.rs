//! What happens in a chat, as records.

use std::collections::HashMap;
use std::sync::Arc;

use super::Record;
use crate::engine::effect::{CallEffect, ChatEffect};
use crate::engine::restore::{Body, Look};
use crate::message::Message;
use crate::tool::CallId;

/// How much of what was shown of a call is saved, when it is not what the model got.
pub(super) const MAX_BODY_BYTES: usize = 256 << 10;

/// What an effect means for the file of its chat. Most effects of a call mean nothing to it, and there may be thousands:
/// finding that out takes no lock and copies no text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Note<'a> {
    /// A message that is no result joined the history.
    Message(&'a Arc<Message>),
    /// A call has its result.
    Result(&'a Arc<Message>),
    /// More of an answer.
    Text(&'a str),
    /// More of the model's reasoning.
    Reasoning(&'a str),
    /// The newest message was taken back.
    TakenBack,
    /// Only so many messages are left.
    Truncated(usize),
    /// The history is empty.
    Cleared,
    /// A turn has ended.
    TurnEnd,
    /// A call has this wire id.
    CallAdded(CallId, &'a str),
    /// The user is asked about a call.
    Asked(CallId),
    /// A call begins to run.
    Started(CallId),
    /// Nothing more comes of the chat.
    Closed,
}

impl<'a> Note<'a> {
    /// What an effect means. None: nothing.
    pub fn of(effect: &'a ChatEffect) -> Option<Self> {
        match effect {
            ChatEffect::AddMessage { message } => match message.as_ref() {
                // Written when the call was over.
                Message::Tool { .. } => None,
                Message::System { .. } | Message::User { .. } | Message::Llm { .. } => Some(Self::Message(message)),
            },
            ChatEffect::ShowText { text } => Some(Self::Text(text)),
            ChatEffect::ShowReasoning { text } => Some(Self::Reasoning(text)),
            ChatEffect::TakeBackMessage => Some(Self::TakenBack),
            ChatEffect::TruncateHistory { kept } => Some(Self::Truncated(*kept)),
            ChatEffect::ClearChat => Some(Self::Cleared),
            ChatEffect::FinishTurn { .. } => Some(Self::TurnEnd),
            ChatEffect::CloseChat => Some(Self::Closed),
            ChatEffect::Call { call, effect } => Self::of_call(*call, effect),
            ChatEffect::TakeInput
            | ChatEffect::HoldInput { .. }
            | ChatEffect::StartTurn
            | ChatEffect::SendRequest { .. }
            | ChatEffect::AbortRequest { .. }
            | ChatEffect::FinishRequest { .. }
            | ChatEffect::ShowProviderCall(_)
            | ChatEffect::RestoreMessage { .. }
            | ChatEffect::RestoreCall { .. }
            | ChatEffect::CheckCalls { .. }
            | ChatEffect::StartBatch { .. }
            | ChatEffect::FinishBatch { .. }
            | ChatEffect::Notify(_) => None,
        }
    }

    fn of_call(call: CallId, effect: &'a CallEffect) -> Option<Self> {
        match effect {
            CallEffect::AddCall { wire_id, .. } => Some(Self::CallAdded(call, wire_id)),
            CallEffect::AskApproval { .. } => Some(Self::Asked(call)),
            CallEffect::RunCmd { cmd: 0, .. } => Some(Self::Started(call)),
            CallEffect::FinishCall { message, .. } => Some(Self::Result(message)),
            CallEffect::PrepareCall { .. }
            | CallEffect::FindFact { .. }
            | CallEffect::FindSaved { .. }
            | CallEffect::LoadPermissions
            | CallEffect::FindWants { .. }
            | CallEffect::AskJudge
            | CallEffect::EndJudge { .. }
            | CallEffect::CloseQuestion
            | CallEffect::RunCmd { .. }
            | CallEffect::StoreText { .. }
            | CallEffect::KillJobs { .. }
            | CallEffect::RunOutput { .. }
            | CallEffect::RunExit { .. }
            | CallEffect::Shorten { .. } => None,
        }
    }
}

/// Turns notes into records. Cheap, since it works on the main loop: texts of messages are shared, not copied.
#[derive(Debug, Default)]
pub struct Recorder {
    /// The wire ids of calls that are not over.
    calls: HashMap<CallId, String>,
}

impl Recorder {
    /// What is to be written.
    pub fn record(&mut self, note: Note) -> Option<Record> {
        match note {
            Note::Message(message) => Some(Record::Message { message: Arc::clone(message) }),
            Note::Result(message) => Some(Record::Result { message: Arc::clone(message) }),
            Note::Text(text) => Some(Record::Text { text: text.to_owned() }),
            Note::Reasoning(text) => Some(Record::Reasoning { text: text.to_owned() }),
            Note::TakenBack => Some(Record::TakenBack),
            Note::Truncated(kept) => Some(Record::Truncated { kept }),
            Note::Cleared => Some(Record::Cleared),
            Note::TurnEnd => Some(Record::TurnEnd),
            Note::CallAdded(call, wire_id) => {
                self.calls.insert(call, wire_id.to_owned());
                None
            }
            Note::Asked(call) => self.wire_id(call).map(|call| Record::Asked { call }),
            Note::Started(call) => self.wire_id(call).map(|call| Record::Started { call }),
            Note::Closed => None,
        }
    }

    /// What is to be written of the looks of a call that is over, the last that is heard of it.
    pub fn look(&mut self, call: CallId, mut look: Look) -> Option<Record> {
        let call = self.calls.remove(&call)?;
        if let Body::Text(text) = &mut look.body
            && text.len() > MAX_BODY_BYTES
        {
            let end = (0..=MAX_BODY_BYTES).rev().find(|end| text.is_char_boundary(*end));
            text.truncate(end.unwrap_or_default());
        }
        Some(Record::Look { call, look })
    }

    fn wire_id(&self, call: CallId) -> Option<String> {
        self.calls.get(&call).cloned()
    }
}
