//! Saved chats: what happened in a chat as records, one JSON object per line, and the chat that comes back from them. No
//! file is touched here (`runtime/store.rs`).

mod loader;
mod recorder;
mod shorten;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::engine::restore::Look;
use crate::message::Message;

pub use loader::{Saved, load, title};
pub use recorder::{Note, Recorder};
pub use shorten::shorten;

/// The version of what is written here. Files of another one are not read.
pub const VERSION: u32 = 1;

/// A longer line is neither written nor read.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// What a chat is besides its messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// The folder it belongs to.
    #[serde(default)]
    pub cwd: String,
    /// The name of its adapter; none: it had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Names of the tools in use, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Names of the groups in use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
}

/// One line of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum Record {
    /// The first line.
    Chat {
        /// [`VERSION`]
        v: u32,
        /// When the chat began, in seconds since 1970.
        created: u64,
        /// How it began.
        meta: Meta,
    },
    /// The tools in use, the adapter or the model are others now.
    Meta {
        /// All of it.
        meta: Meta,
    },
    /// A message joined the history. Results are records of their own.
    Message {
        /// The message.
        #[serde(with = "shared")]
        message: Arc<Message>,
    },
    /// The user was asked about a call.
    Asked {
        /// Its wire id.
        call: String,
    },
    /// A call began to run.
    Started {
        /// Its wire id.
        call: String,
    },
    /// A call has its result. Of calls that overlap, the first that is done comes first.
    Result {
        /// A tool message.
        #[serde(with = "shared")]
        message: Arc<Message>,
    },
    /// How a call looks that is over.
    Look {
        /// Its wire id.
        call: String,
        /// How.
        look: Look,
    },
    /// More of an answer. The message that follows says it all; without one, this is what is left of it.
    Text {
        /// The piece.
        text: String,
    },
    /// More of the model's reasoning.
    Reasoning {
        /// The piece.
        text: String,
    },
    /// The newest message, a text of the model, was taken back.
    TakenBack,
    /// Only the first messages are left.
    #[serde(rename = "cut")]
    Truncated {
        /// How many.
        kept: usize,
    },
    /// The history is empty.
    Cleared,
    /// A turn has ended.
    TurnEnd,
}

/// A message that is held elsewhere too.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::message::Message;

    pub fn serialize<S: Serializer>(message: &Arc<Message>, serializer: S) -> Result<S::Ok, S::Error> {
        message.as_ref().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Message>, D::Error> {
        Message::deserialize(deserializer).map(Arc::new)
    }
}

impl Record {
    /// Appends it as a line.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let before = bytes.len();
        if serde_json::to_writer(&mut *bytes, self).is_err() {
            // It has no map whose keys are not texts, and a vector takes all. Half a line would cost the next one too.
            bytes.truncate(before);
            return;
        }
        bytes.push(b'\n');
    }
}

#[cfg(test)]
mod tests;
