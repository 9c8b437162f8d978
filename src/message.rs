//! Messages and the history they form: what the model has seen and said. Repair of call/result pairs lives here.

use serde::{Deserialize, Serialize};

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions of the user's configuration and of tools.
    System,
    /// The person at the keyboard.
    User,
    /// The model.
    Llm,
    /// A tool result.
    Tool,
}

/// One request by the model to run a tool, as it is kept in the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's id of the call, unique in its history (made by us when the provider sent none, or one twice).
    pub wire_id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments, byte for byte as the model wrote them when they are one JSON object, else `{}`.
    pub arguments: String,
}

/// One entry of the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// Instructions.
    System {
        /// Markdown text.
        content: String,
    },
    /// What the user said.
    User {
        /// Markdown text.
        content: String,
        /// Whether the chat buffer shows it.
        visible: bool,
    },
    /// What the model said, and the calls it asked for.
    Llm {
        /// Markdown text, may be empty.
        content: String,
        /// The model's reasoning, may be empty.
        reasoning: String,
        /// Tool calls in the order of the model.
        calls: Vec<Call>,
    },
    /// The single answer to one call.
    Tool {
        /// `Call::wire_id` of the call that it answers.
        wire_id: String,
        /// What the model reads.
        content: String,
        /// Whether the call failed.
        is_error: bool,
    },
}
