//! Adapters: what goes to a provider and what comes back, in one shape for all of them. Each wire format has its codec in
//! `adapter/`: pure, without sockets, clocks or Lua. Sending is the runtime's business.

pub mod anthropic;
mod body;
mod fault;
mod fit;
pub mod gemini;
mod names;
pub mod ollama;
pub mod openai;
pub mod openai_responses;
mod reader;
pub mod scripted;
pub mod sse;
#[cfg(test)]
mod testing;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

pub use fault::error_text;
pub use names::Names;
pub(crate) use names::{MAX_NAME_BYTES, shorten};
use names::{hashed_id, legal_id};

use crate::message::{Message, Opaque};

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
    /// The provider's filter cut it off.
    ContentFilter,
    /// The provider's own tools took long: sent back as it is, the answer goes on.
    Paused,
    /// A word that lathe does not know.
    Other(String),
}

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

/// Where an answer comes from: what only its provider understands goes back there, and nowhere else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The adapter's name.
    pub adapter: String,
    /// The model's name.
    pub model: String,
}

impl Origin {
    /// Wraps what a codec keeps of an answer.
    pub fn opaque(&self, data: Value) -> Opaque {
        Opaque { adapter: self.adapter.clone(), model: self.model.clone(), data }
    }

    /// What was kept of an answer, when it came from the same adapter.
    pub fn of_adapter<'a>(&self, opaque: Option<&'a Opaque>) -> Option<&'a Opaque> {
        opaque.filter(|opaque| opaque.adapter == self.adapter)
    }

    /// The same, when it came from the same model, too.
    pub fn of_model<'a>(&self, opaque: Option<&'a Opaque>) -> Option<&'a Opaque> {
        self.of_adapter(opaque).filter(|opaque| opaque.model == self.model)
    }
}

/// What sets a server apart from others that speak the same format. An adapter's table says it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dialect {
    /// Ids of calls must have exactly so many letters and digits.
    pub call_id_length: Option<usize>,
    /// The model must say something between a result and a message of the user.
    pub answer_between: bool,
    /// The field of a message with calls in which the reasoning must come back, also when it is empty.
    pub reasoning_back: Option<String>,
    /// Fields of the model's message that must come back as they are.
    pub keep: Vec<String>,
    /// It refuses to enforce schemas.
    pub no_strict: bool,
    /// It takes no schema of the answer.
    pub no_answer_schema: bool,
}

/// A tool as its author describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolDefinition {
    /// The name in lathe; any text.
    pub name: String,
    /// What the model is told.
    pub description: Option<String>,
    /// JSON Schema of the arguments as it came from Lua; null: the tool takes none.
    pub parameters: Value,
    /// Whether the provider is to enforce the schema.
    pub strict: Option<bool>,
}

/// What a request is made of.
#[derive(Clone, Copy, Debug)]
pub struct BuildInput<'a> {
    /// A repaired history.
    pub messages: &'a [Arc<Message>],
    /// The tools on offer.
    pub tools: &'a [ToolDefinition],
    /// What the adapter's own hook made of the tools: a list, or an object with `tools` and other fields of the body.
    pub tools_override: Option<&'a Value>,
    /// Tools that the provider knows by itself, as the body names them. They follow the others; a hook names its own.
    pub extra_tools: &'a [Value],
    /// Whether the model takes pictures; a result's text tells of them in any case.
    pub vision: bool,
    /// Fields of the body: `model`, `temperature`, `stream` …
    pub settings: &'a Map<String, Value>,
    /// JSON Schema of the answer; none: it may be any text.
    pub answer: Option<&'a Value>,
    /// Who gets the request.
    pub origin: &'a Origin,
    /// How the server differs from others.
    pub dialect: &'a Dialect,
}

/// A request's body and what is needed to read the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Built {
    /// The whole body.
    pub body: Value,
    /// For the decoder.
    pub names: Names,
    /// Tools that the provider would refuse, and the whole request with them: left out, each with the reason.
    pub faults: Vec<String>,
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

/// What a decoder knows of the request that is answered.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// As [`build`] made them.
    pub names: Names,
    /// Who answers.
    pub origin: Origin,
    /// How the server differs from others.
    pub dialect: Dialect,
    /// Whether a stream was asked for. What the server really sends decides.
    pub streaming: bool,
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
            Wire::OpenAi => Codec::OpenAi(Box::new(openai::Decoder::new(asked))),
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
