//! Adapters: what comes back from a provider, in one shape for all of them. Each wire format has its codec in `adapter/`.

pub mod scripted;

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
    /// Token counts of the request, as the provider reports them.
    Usage {
        /// Tokens read.
        input: u64,
        /// Tokens written.
        output: u64,
    },
}
