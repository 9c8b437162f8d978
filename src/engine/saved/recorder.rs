//! What happens in a chat, as records.

use std::collections::HashMap;
use std::sync::Arc;

use super::Record;
use crate::engine::effect::Effect;
use crate::engine::restore::{Body, Look};
use crate::message::Message;
use crate::tool::CallId;

/// How much of what was shown of a call is saved, when it is not what the model got.
pub(super) const MAX_BODY_BYTES: usize = 256 << 10;

/// Turns effects into records. Cheap, since it works on the main loop: texts of messages are shared, not copied.
#[derive(Debug, Default)]
pub struct Recorder {
    /// The wire ids of calls that are not over.
    calls: HashMap<CallId, String>,
}

impl Recorder {
    /// Whether an effect matters at all: it is recorded, or tells of a call or of the end of a chat.
    pub fn may_record(effect: &Effect) -> bool {
        match effect {
            Effect::AddMessage { message, .. } => !matches!(message.as_ref(), Message::Tool { .. }),
            Effect::RunCmd { cmd, .. } => *cmd == 0,
            Effect::RunOutput { .. } | Effect::PrepareCall { .. } | Effect::FindFact { .. } => false,
            Effect::StoreText { .. } | Effect::RunExit { .. } | Effect::Log { .. } => false,
            _ => true,
        }
    }

    /// What is to be written of an effect.
    pub fn record(&mut self, effect: &Effect) -> Option<Record> {
        match effect {
            Effect::AddMessage { message, .. } => match message.as_ref() {
                // Written when the call was over.
                Message::Tool { .. } => None,
                Message::System { .. } | Message::User { .. } | Message::Llm { .. } => {
                    Some(Record::Message { message: Arc::clone(message) })
                }
            },
            Effect::AddCall { call, wire_id, .. } => {
                self.calls.insert(*call, wire_id.clone());
                None
            }
            Effect::AskApproval { call, .. } => self.wire_id(*call).map(|call| Record::Asked { call }),
            Effect::RunCmd { call, cmd: 0, .. } => self.wire_id(*call).map(|call| Record::Started { call }),
            Effect::FinishCall { message, .. } => Some(Record::Result { message: Arc::clone(message) }),
            Effect::ShowText { text, .. } => Some(Record::Text { text: text.clone() }),
            Effect::ShowReasoning { text, .. } => Some(Record::Reasoning { text: text.clone() }),
            Effect::TakeBackMessage { .. } => Some(Record::TakenBack),
            Effect::CutHistory { kept, .. } => Some(Record::Cut { kept: *kept }),
            Effect::ClearChat { .. } => Some(Record::Cleared),
            Effect::FinishTurn { .. } => Some(Record::TurnEnd),
            Effect::TakeInput { .. }
            | Effect::HoldInput { .. }
            | Effect::StartTurn { .. }
            | Effect::SendRequest { .. }
            | Effect::AbortRequest { .. }
            | Effect::FinishRequest { .. }
            | Effect::ShowProviderCall { .. }
            | Effect::RestoreMessage { .. }
            | Effect::RestoreCall { .. }
            | Effect::CheckCalls { .. }
            | Effect::StartBatch { .. }
            | Effect::PrepareCall { .. }
            | Effect::FindFact { .. }
            | Effect::FindSaved { .. }
            | Effect::LoadPermissions { .. }
            | Effect::FindPairs { .. }
            | Effect::SaveApproval { .. }
            | Effect::AskJudge { .. }
            | Effect::EndJudge { .. }
            | Effect::CloseQuestion { .. }
            | Effect::RunCmd { .. }
            | Effect::StoreText { .. }
            | Effect::KillJobs { .. }
            | Effect::RunOutput { .. }
            | Effect::RunExit { .. }
            | Effect::CutContent { .. }
            | Effect::FinishBatch { .. }
            | Effect::Notify { .. }
            | Effect::Tell { .. }
            | Effect::CloseChat { .. }
            | Effect::Log { .. } => None,
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
