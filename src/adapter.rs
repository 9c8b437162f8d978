//! Adapters: what goes to a provider and what comes back, in one shape for all of them. Each wire format has its codec in
//! `adapter/`: pure, without sockets, clocks or Lua. Sending is the runtime's business.

mod fault;
mod fit;
pub mod openai;
pub mod scripted;
pub mod sse;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};

pub use fault::error_text;

use crate::message::Message;

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
    /// A word that lathe does not know.
    Other(String),
}

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// OpenAI's chat completions, and every server compatible with them.
    OpenAi,
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
    /// Whether the model takes pictures.
    pub vision: bool,
    /// Fields of the body: `model`, `temperature`, `stream` …
    pub settings: &'a Map<String, Value>,
    /// JSON Schema of the answer; none: it may be any text.
    pub answer: Option<&'a Value>,
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
}

impl Decoder {
    /// A decoder for one answer. `streaming`: whether a stream was asked for. What the server really sends decides.
    pub fn new(wire: Wire, names: Names, streaming: bool) -> Self {
        let codec = match wire {
            Wire::OpenAi => Codec::OpenAi(Box::new(openai::Decoder::new(names, streaming))),
        };
        Self { codec }
    }

    /// Takes more of the body. Nothing follows `Item::End` and `Item::Failed`.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Item> {
        match &mut self.codec {
            Codec::OpenAi(decoder) => decoder.push(bytes),
        }
    }

    /// The body is complete. Gives `Item::End` or `Item::Failed` unless one was given before.
    pub fn finish(&mut self) -> Vec<Item> {
        match &mut self.codec {
            Codec::OpenAi(decoder) => decoder.finish(),
        }
    }

    /// Whether the provider has said why the model stopped: all of the answer is there, whatever becomes of the body.
    pub fn is_whole(&self) -> bool {
        match &self.codec {
            Codec::OpenAi(decoder) => decoder.is_whole(),
        }
    }

    /// Whether `Item::End` or `Item::Failed` was given: what else arrives means nothing.
    pub fn is_over(&self) -> bool {
        match &self.codec {
            Codec::OpenAi(decoder) => decoder.is_over(),
        }
    }
}

/// How many bytes of a name the providers take.
pub(crate) const MAX_NAME_BYTES: usize = 64;

/// Tools under the names that providers take (R049): up to 64 letters, digits, `_` and `-`. Most names are legal as they
/// are; another one is made legal and unique, the same way in every request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    wires: HashMap<String, String>,
    tools: HashMap<String, String>,
}

impl Names {
    /// Names for these tools.
    pub fn new<'a>(tools: impl IntoIterator<Item = &'a str>) -> Self {
        let (legal, others): (Vec<&str>, Vec<&str>) = tools.into_iter().partition(|name| is_legal(name));
        let mut taken: HashSet<Cow<str>> = legal.into_iter().map(Cow::Borrowed).collect();
        let mut names = Self::default();
        for tool in others {
            if names.wires.contains_key(tool) {
                continue;
            }
            let mut wire = shorten(tool, 0);
            for salt in 1.. {
                if taken.insert(Cow::Owned(wire.clone())) {
                    break;
                }
                wire = shorten(tool, salt);
            }
            names.wires.insert(tool.to_owned(), wire.clone());
            names.tools.insert(wire, tool.to_owned());
        }
        names
    }

    /// The name a provider gets for a tool, also for one that is not on offer any more.
    pub fn wire<'a>(&'a self, tool: &'a str) -> Cow<'a, str> {
        match self.wires.get(tool) {
            Some(wire) => Cow::Borrowed(wire),
            None if is_legal(tool) => Cow::Borrowed(tool),
            None => Cow::Owned(shorten(tool, 0)),
        }
    }

    /// The tool that a provider means; what it made up stays as it is.
    pub fn tool<'a>(&'a self, wire: &'a str) -> &'a str {
        self.tools.get(wire).map_or(wire, String::as_str)
    }
}

fn is_legal(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.bytes().all(is_legal_byte)
}

fn is_legal_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// The first 55 bytes, `_`, and eight digits of a hash of the whole.
pub(crate) fn shorten(name: &str, salt: u32) -> String {
    let head = name.bytes().take(MAX_NAME_BYTES - 9);
    let head: String = head.map(|byte| if is_legal_byte(byte) { char::from(byte) } else { '_' }).collect();
    format!("{head}_{:08x}", fnv1a(name.bytes().chain(salt.to_le_bytes().into_iter().filter(|byte| *byte != 0))))
}

/// FNV-1a: the names must be the same in every build and process, which the standard hasher does not promise.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u32 {
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r049_a_long_name_is_cut_and_maps_back_to_its_tool() {
        let long = format!("{}__{}", "s".repeat(40), "t".repeat(41));
        let other = format!("{long}2");
        let names = Names::new([long.as_str(), other.as_str(), "short"]);
        let (wire, second) = (names.wire(&long), names.wire(&other));
        assert_eq!(wire.len(), 64);
        assert!(is_legal(&wire) && is_legal(&second));
        assert_ne!(wire, second);
        assert_eq!(names.tool(&wire), long);
        assert_eq!(names.tool(&second), other);
        assert_eq!(names.wire("short"), "short");
        assert_eq!(names.tool("made_up"), "made_up");
    }

    #[test]
    fn r049_a_name_is_cut_the_same_way_in_every_process() {
        assert_eq!(Names::new(["a.b"]).wire("a.b"), "a_b_108bf50c");
        assert_eq!(Names::default().wire("a.b"), "a_b_108bf50c");
    }

    #[test]
    fn r049_a_made_name_never_takes_the_name_of_another_tool() {
        let clash = Names::default().wire("a.b").into_owned();
        let names = Names::new(["a.b", clash.as_str(), "", "é"]);
        assert_eq!(names.wire(&clash), clash);
        assert_eq!(names.tool(&clash), clash);
        for tool in ["a.b", "", "é"] {
            let wire = names.wire(tool).into_owned();
            assert!(is_legal(&wire), "{wire}");
            assert_eq!(names.tool(&wire), tool);
        }
    }
}
