//! What a decoder gives: the pieces of a model's answer, in one shape for every wire format.

use serde_json::Value;

use crate::message::Opaque;

/// One piece of a model's answer, whatever the wire format.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// More of the answer's text.
    Text(String),
    /// More of the model's reasoning.
    Reasoning(String),
    /// A tool call begins. `index` tells the calls of one answer apart.
    CallStarted {
        /// Place among the calls of this answer.
        index: usize,
        /// The provider's id, empty when it sent none.
        wire_id: String,
        /// The tool's name.
        name: String,
    },
    /// More of the arguments of call `index`.
    CallArguments {
        /// As in `CallStarted`.
        index: usize,
        /// A piece of JSON text.
        text: String,
    },
    /// Data of call `index` that only the provider understands and wants back with the call (R052).
    CallExtra {
        /// As in `CallStarted`.
        index: usize,
        /// An object; joins what came before.
        extra: Value,
    },
    /// A tool that the provider has run itself: for the user to see. What the provider wants back of it is in `Opaque`.
    Ran(ProviderCall),
    /// What the provider wants back with this answer. Once, before `End`.
    Opaque(Opaque),
    /// Token counts of the request, as the provider reports them.
    Usage {
        /// Tokens read.
        input: u64,
        /// Tokens written.
        output: u64,
    },
    /// The answer is complete. The last item, unless `Failed` is.
    End {
        /// Why the model stopped.
        reason: EndReason,
    },
    /// The provider reports an error, or what it sends is no answer. The last item; the text is for the user.
    Failed(String),
}

/// A call that the provider ran itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderCall {
    /// The tool's name at the provider.
    pub name: String,
    /// What it was asked, on one line; may be empty.
    pub label: String,
    /// What came of it, may be empty.
    pub output: String,
    /// Whether it failed.
    pub is_error: bool,
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// It had no more to say.
    Stop,
    /// It waits for the results of its calls.
    ToolCalls,
    /// The limit on tokens cut it off.
    Length,
    /// The provider's filter cut it off; what it says of that, may be empty.
    ContentFilter(String),
    /// The provider refuses to go on, and would again with this turn in the history; what it says of that, may be empty.
    Refused(String),
    /// The provider's own tools took long: sent back as it is, the answer goes on.
    Paused,
    /// A word that lathe does not know, or that speaks for itself, with what the provider says of it.
    Other(String),
}
