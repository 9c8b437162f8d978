//! What a codec is given: what a request is made of, and what is known of it when the answer comes.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::names::Names;
use super::raw;
use crate::message::{Message, Opaque};

/// Where a codec's data of an answer tells the ids of calls that only their provider takes as they are.
pub const OWN_IDS: &str = "ids";

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

    /// The ids of an answer's calls that go back as they are, whatever their form: this provider made them.
    pub fn own_ids<'a>(&self, opaque: Option<&'a Opaque>) -> impl Iterator<Item = &'a str> {
        let ids = self.of_adapter(opaque).and_then(|opaque| opaque.data.get(OWN_IDS)?.as_array());
        ids.into_iter().flatten().filter_map(Value::as_str)
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
    /// The field in which the reasoning must come back with each of the model's messages once there are tools, also when
    /// it is empty.
    pub reasoning_back: Option<String>,
    /// Thinking comes as parts of the content, and goes back so to the model that thought.
    pub thinking_parts: bool,
    /// Fields of the model's message that must come back as they are.
    pub keep: Vec<String>,
    /// It sends the input of a call as the model writes it, instead of value by value, where it is asked to.
    pub eager_input: bool,
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
    /// The time, in seconds since 1970.
    pub now_s: u64,
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
    /// A fingerprint of all that stands before the answer, where an answer is bound to it; else empty. For the decoder.
    pub prefix: String,
}

impl Built {
    /// The JSON text of the body.
    pub fn json(&self) -> String {
        raw::text(&self.body)
    }
}

/// What a decoder knows of the request that is answered.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// As `build` made them.
    pub names: Names,
    /// As `build` made it.
    pub prefix: String,
    /// Who answers.
    pub origin: Origin,
    /// How the server differs from others.
    pub dialect: Dialect,
    /// Whether a stream was asked for. What the server really sends decides.
    pub streaming: bool,
}
