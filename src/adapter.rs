//! Adapters: what goes to a provider and what comes back, in one shape for all of them. Each wire format has its codec in
//! `adapter/`: pure, without sockets, clocks or Lua. Sending is the runtime's business.

mod anthropic;
mod body;
mod fault;
mod fit;
mod gemini;
mod halves;
mod item;
mod known;
mod names;
mod ollama;
mod openai;
mod openai_responses;
mod raw;
mod reader;
mod request;
pub mod scripted;
mod sse;
mod tables;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use fault::error_text;
pub use item::{EndReason, Item, ProviderCall};
pub use names::Names;
pub(crate) use names::{MAX_NAME_BYTES, shorten};
pub use request::{Asked, BuildInput, Built, Dialect, Origin, ToolDefinition};
pub use tables::read as read_tables;

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// OpenAI's chat completions, and every server compatible with them.
    OpenAi,
    /// OpenAI's responses.
    OpenAiResponses,
    /// Anthropic's messages.
    Anthropic,
    /// Google's generateContent.
    Gemini,
    /// Ollama's own chat.
    Ollama,
}

impl Wire {
    /// All of them, under the names that adapters use.
    pub const ALL: &[(&str, Self)] = &[
        ("openai", Self::OpenAi),
        ("openai_responses", Self::OpenAiResponses),
        ("anthropic", Self::Anthropic),
        ("gemini", Self::Gemini),
        ("ollama", Self::Ollama),
    ];
}

/// Builds the body of a request. Takes as long as the history is: not for the main loop.
pub fn build(wire: Wire, input: BuildInput<'_>) -> Built {
    match wire {
        Wire::OpenAi => openai::build(input),
        Wire::OpenAiResponses => openai_responses::build(input),
        Wire::Anthropic => anthropic::build(input),
        Wire::Gemini => gemini::build(input),
        Wire::Ollama => ollama::build(input),
    }
}

/// Reads an answer as it arrives: the same items for every split of its bytes.
#[derive(Debug)]
pub struct Decoder {
    codec: Codec,
}

#[derive(Debug)]
enum Codec {
    OpenAi(Box<openai::Decoder>),
    OpenAiResponses(Box<openai_responses::Decoder>),
    Anthropic(Box<anthropic::Decoder>),
    Gemini(Box<gemini::Decoder>),
    Ollama(Box<ollama::Decoder>),
}

/// The same call to whichever codec it is.
macro_rules! with_codec {
    ($codec:expr, $decoder:ident => $call:expr) => {
        match $codec {
            Codec::OpenAi($decoder) => $call,
            Codec::OpenAiResponses($decoder) => $call,
            Codec::Anthropic($decoder) => $call,
            Codec::Gemini($decoder) => $call,
            Codec::Ollama($decoder) => $call,
        }
    };
}

impl Decoder {
    /// A decoder for one answer.
    pub fn new(wire: Wire, asked: Asked) -> Self {
        let codec = match wire {
            Wire::OpenAi => Codec::OpenAi(Box::new(openai::decoder(asked))),
            Wire::OpenAiResponses => Codec::OpenAiResponses(Box::new(openai_responses::decoder(asked))),
            Wire::Anthropic => Codec::Anthropic(Box::new(anthropic::decoder(asked))),
            Wire::Gemini => Codec::Gemini(Box::new(gemini::decoder(asked))),
            Wire::Ollama => Codec::Ollama(Box::new(ollama::decoder(asked))),
        };
        Self { codec }
    }

    /// Takes more of the body. Nothing follows `Item::End` and `Item::Failed`.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Item> {
        with_codec!(&mut self.codec, decoder => decoder.push(bytes))
    }

    /// The body is complete. Gives `Item::End` or `Item::Failed` unless one was given before.
    pub fn finish(&mut self) -> Vec<Item> {
        with_codec!(&mut self.codec, decoder => decoder.finish())
    }

    /// Whether the provider has said why the model stopped: all of the answer is there, whatever becomes of the body.
    pub fn is_whole(&self) -> bool {
        with_codec!(&self.codec, decoder => decoder.is_whole())
    }

    /// Whether `Item::End` or `Item::Failed` was given: what else arrives means nothing.
    pub fn is_over(&self) -> bool {
        with_codec!(&self.codec, decoder => decoder.is_over())
    }
}
