//! Decoding and checking the arguments of a call. Schemas are kept here, compiled once each, never on the main loop.
//! What becomes of a call that does not fit is the engine's business.

mod decode;
mod defaults;
mod fit;
mod normalise;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use jsonschema::Validator;
use serde_json::{Value, json};

pub use decode::decode;
pub use normalise::normalise;

use crate::tool::router::{self, Routed};
use crate::tool::{ArgumentsError, CheckedCall, SchemaId, UncheckedCall};

/// Why a schema cannot be used. It is a fault of the tool, not of the arguments.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SchemaError {
    /// The text is not JSON.
    #[error("it is not JSON: {reason}")]
    NotJson {
        /// What the decoder says.
        reason: String,
    },
    /// The JSON is not a schema, or refers to a document that is not part of it.
    #[error("at {pointer}: {reason}")]
    NotASchema {
        /// JSON pointer into the schema, `/` for the whole.
        pointer: String,
        /// What the compiler says.
        reason: String,
    },
}

/// One schema text and, once a call was checked against it, the validator.
#[derive(Debug)]
struct Entry {
    text: Arc<str>,
    fills_defaults: bool,
    compiled: OnceLock<Result<Validator, SchemaError>>,
}

/// Schemas by id. Texts that were interned once stay: there are as many as tools have schemas.
#[derive(Debug, Default)]
pub struct Schemas {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// By text and whether defaults are filled in.
    ids: [HashMap<Arc<str>, SchemaId>; 2],
    entries: Vec<Arc<Entry>>,
}

impl Schemas {
    /// The id of a schema text. Only stores the text, so it is cheap enough for the main loop.
    pub fn intern(&self, text: &str) -> SchemaId {
        self.intern_with(text, false)
    }

    /// The same; `fills_defaults`: what a call leaves out gets the schema's default before it is checked (N-25).
    pub fn intern_with(&self, text: &str, fills_defaults: bool) -> SchemaId {
        let mut inner = self.lock();
        if let Some(id) = inner.ids[usize::from(fills_defaults)].get(text) {
            return *id;
        }
        let text: Arc<str> = text.into();
        let id = SchemaId(inner.entries.len() as u64);
        inner.entries.push(Arc::new(Entry { text: Arc::clone(&text), fills_defaults, compiled: OnceLock::new() }));
        inner.ids[usize::from(fills_defaults)].insert(text, id);
        id
    }

    /// Compiles a schema unless that was done. Not for the main loop.
    pub fn compile(&self, schema: SchemaId) {
        if let Some(entry) = self.entry(schema) {
            let _ = entry.compiled();
        }
    }

    /// How many schemas were compiled.
    pub fn compiled_count(&self) -> usize {
        self.lock().entries.iter().filter(|entry| entry.compiled.get().is_some()).count()
    }

    fn entry(&self, schema: SchemaId) -> Option<Arc<Entry>> {
        usize::try_from(schema.0).ok().and_then(|index| self.lock().entries.get(index).cloned())
    }

    /// Decodes and checks the arguments of one call. Compiles its schema when it is the first; may take milliseconds.
    pub fn check(&self, call: UncheckedCall) -> CheckedCall {
        if let Some(tools) = &call.route
            && let Some(Routed { index, arguments }) = router::route(&call.arguments, tools)
        {
            let tool = &tools[index];
            let named = UncheckedCall {
                call: call.call,
                schema: tool.schema,
                numeric_strings: tool.numeric_strings,
                keeps_arguments: tool.keeps_arguments,
                arguments,
                route: None,
            };
            return CheckedCall { runs: Some(tool.name.clone()), ..self.check(named) };
        }
        let arguments = decode(&call.arguments).and_then(|arguments| match call.schema {
            Some(schema) => self.fit(schema, arguments, call.numeric_strings),
            None => Ok(arguments),
        });
        let kept =
            arguments.as_ref().ok().filter(|_| call.keeps_arguments).map(|arguments| Arc::new(arguments.clone()));
        CheckedCall { kept, ..CheckedCall::new(call.call, arguments) }
    }

    fn fit(&self, schema: SchemaId, arguments: Value, numeric_strings: bool) -> Result<Value, ArgumentsError> {
        // An id that this store did not give out can only mean that the tool is not known well enough to run it.
        let unknown = || ArgumentsError::DoesNotFit(format!("The tool's schema (number {}) is not known.", schema.0));
        let entry = self.entry(schema).ok_or_else(unknown)?;
        match entry.compiled() {
            Ok(validator) if entry.fills_defaults => {
                fit::fit(validator, defaults::fill(&entry.text, arguments), numeric_strings)
            }
            Ok(validator) => fit::fit(validator, arguments, numeric_strings),
            Err(error) => Err(ArgumentsError::DoesNotFit(format!(
                "The tool's own schema cannot be used ({error}), so its arguments cannot be checked and nothing was run. \
                 This is a fault of the tool, not of the arguments: do not call it again, tell the user."
            ))),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing in here panics half-way through a change.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn compiled(&self) -> &Result<Validator, SchemaError> {
        self.compiled.get_or_init(|| compile(&self.text))
    }
}

fn compile(text: &str) -> Result<Validator, SchemaError> {
    let schema = serde_json::from_str(text).map_err(|error| SchemaError::NotJson { reason: error.to_string() })?;
    build(&normalise(schema))
}

/// Draft 2020-12 unless the schema names another; formats are notes, not rules; nothing is ever fetched.
fn build(schema: &Value) -> Result<Validator, SchemaError> {
    jsonschema::options().should_validate_formats(false).offline().build(schema).map_err(|error| {
        let pointer = match error.instance_path().as_str() {
            "" => "/".to_owned(),
            pointer => pointer.to_owned(),
        };
        SchemaError::NotASchema { pointer, reason: error.to_string() }
    })
}

/// Builds what the first validator of a process needs besides its own schema (the meta-schema's validator), so that the
/// first call does not wait for it. Takes 1–4 ms in a release build: not for the main loop.
pub fn warm() {
    // An empty schema would not do: it takes a short cut. Nothing can fail here, and if it did, the first call would say so.
    let _ = build(&json!({"type": "object"}));
}

#[cfg(test)]
mod tests;
