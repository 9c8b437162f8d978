//! What all decoders of JSON events have in common: framing, one end, one text for each way in which an answer is none.
//! What an event means is the codec's business.

use std::borrow::Cow;

use serde_json::{Deserializer, Map, Value};

use super::fault::{self, error_text};
use super::halves::{self, Joined};
use super::item::{EndReason, Item, ProviderCall};
use super::known::{self, Meaning, Words};
use super::names::is_plain_id;
use super::request::{Asked, Dialect, OWN_IDS};
use super::sse::{Body, Frame};

const EMPTY: &str = "The server sent an empty answer.";

const UNFINISHED: &str = "The answer ends before the server says that it is complete.";

/// A codec's side of an answer.
pub trait Codec: Default {
    /// What an answer is called.
    const NAME: &str;
    /// Whether the body is lines of JSON instead of server-sent events.
    const LINES: bool = false;

    /// Takes one event in, or a whole answer that is no stream.
    fn event(&mut self, event: Map<String, Value>, answer: &mut Answer);

    /// All events were taken in. Returns what the provider wants back.
    fn finish(&mut self, answer: &mut Answer) -> Option<Value>;
}

/// What has become of an answer so far.
#[derive(Debug, Default)]
pub struct Answer {
    asked: Asked,
    items: Vec<Item>,
    usage: Option<(u64, u64)>,
    reason: Option<EndReason>,
    /// The server cuts characters over two chunks: pieces may end with half of one.
    halves: bool,
    text: Joined,
    reasoning: Joined,
    /// By the place of the call.
    arguments: Vec<Joined>,
    /// Ids of calls that only the provider that made them takes as they are.
    ids: Vec<String>,
    /// Something that belongs to an answer has arrived.
    seen: bool,
    /// The provider said that nothing follows.
    closed: bool,
    failed: bool,
}

impl Answer {
    /// How the server differs from others.
    pub fn dialect(&self) -> &Dialect {
        &self.asked.dialect
    }

    /// The fingerprint of all that stands before the answer, where the codec makes one.
    pub fn prefix(&self) -> &str {
        &self.asked.prefix
    }

    /// This is an answer, whatever becomes of it.
    pub fn begin(&mut self) {
        self.seen = true;
    }

    /// More text.
    pub fn text(&mut self, text: impl Into<String>) {
        let text = text.into();
        let text = if self.halves { self.text.push(text) } else { text };
        if !text.is_empty() {
            self.items.push(Item::Text(text));
        }
    }

    /// More reasoning.
    pub fn reasoning(&mut self, text: impl Into<String>) {
        let text = text.into();
        let text = if self.halves { self.reasoning.push(text) } else { text };
        if !text.is_empty() {
            self.items.push(Item::Reasoning(text));
        }
    }

    /// A call begins; returns its place among the calls.
    pub fn call(&mut self, wire_id: &str, name: &str) -> usize {
        self.end_texts();
        let (index, name) = (self.arguments.len(), self.asked.names.tool(name).to_owned());
        if !wire_id.is_empty() && !is_plain_id(wire_id) {
            self.ids.push(wire_id.to_owned());
        }
        self.items.push(Item::CallStarted { index, wire_id: wire_id.to_owned(), name });
        self.arguments.push(Joined::default());
        index
    }

    /// More arguments of a call.
    pub fn arguments(&mut self, index: usize, text: impl Into<String>) {
        let text = text.into();
        let text = match self.arguments.get_mut(index) {
            Some(joined) if self.halves => joined.push(text),
            Some(_) | None => text,
        };
        if !text.is_empty() {
            self.items.push(Item::CallArguments { index, text });
        }
    }

    /// No other half of a character comes.
    fn end_texts(&mut self) {
        if self.halves {
            let (reasoning, text) = (self.reasoning.finish(), self.text.finish());
            self.items.extend((!reasoning.is_empty()).then_some(Item::Reasoning(reasoning)));
            self.items.extend((!text.is_empty()).then_some(Item::Text(text)));
            for (index, joined) in self.arguments.iter_mut().enumerate() {
                let text = joined.finish();
                self.items.extend((!text.is_empty()).then_some(Item::CallArguments { index, text }));
            }
        }
    }

    /// What the provider wants back with a call.
    pub fn call_extra(&mut self, index: usize, extra: Value) {
        self.items.push(Item::CallExtra { index, extra });
    }

    /// The provider has run a tool.
    pub fn ran(&mut self, call: ProviderCall) {
        self.items.push(Item::Ran(call));
    }

    /// Tokens, as far as they are known now.
    pub fn usage(&mut self, input: Option<u64>, output: Option<u64>) {
        let (known_input, known_output) = self.usage.unwrap_or((0, 0));
        if input.is_some() || output.is_some() {
            self.usage = Some((input.unwrap_or(known_input), output.unwrap_or(known_output)));
        }
    }

    /// The model has stopped. A plain stop after calls waits for their results.
    pub fn stop(&mut self, reason: EndReason) {
        self.reason = Some(reason);
    }

    /// The same in the provider's word, with what it says of it.
    pub fn stop_for(&mut self, words: &[&Words], word: &str, why: &str) {
        let why = fault::one_line(why);
        let said = if why.is_empty() { word.to_owned() } else { format!("{word}: {why}") };
        match known::meaning(words, word) {
            Some(Meaning::Stop) => self.stop(EndReason::Stop),
            Some(Meaning::ToolCalls) => self.stop(EndReason::ToolCalls),
            Some(Meaning::Length) => self.stop(EndReason::Length),
            // The plain word says no more than the notice does.
            Some(Meaning::Filtered) if word == "content_filter" => self.stop(EndReason::ContentFilter(why)),
            Some(Meaning::Filtered) => self.stop(EndReason::ContentFilter(said)),
            Some(Meaning::Refused) => self.stop(EndReason::Refused(why)),
            Some(Meaning::Paused) => self.stop(EndReason::Paused),
            Some(Meaning::Broken) => self.fail(format!("The provider ended the answer: {said}")),
            Some(Meaning::Shown) | None => self.stop(EndReason::Other(said)),
        }
    }

    /// Nothing follows.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether it failed: what follows means nothing.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// The answer is none, or breaks off.
    pub fn fail(&mut self, text: impl AsRef<str>) {
        if !self.failed {
            self.items.push(Item::Failed(fault::one_line(text.as_ref())));
            self.failed = true;
        }
    }

    /// The same with the provider's error.
    pub fn fail_with(&mut self, error: &Value) {
        let text = fault::message_in(error).unwrap_or_else(|| format!("The server reports an error: {error}"));
        self.fail(text);
    }
}

/// Reads the answer of a provider.
#[derive(Debug)]
pub struct Reader<C> {
    body: Body,
    codec: C,
    answer: Answer,
    over: bool,
}

impl<C: Codec> Reader<C> {
    /// A reader for one answer.
    pub fn new(asked: Asked) -> Self {
        let body = if C::LINES { Body::lines() } else { Body::default() };
        Self { body, codec: C::default(), answer: Answer { asked, ..Answer::default() }, over: false }
    }

    /// As [`super::Decoder::push`].
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Item> {
        if !self.over {
            let frames = self.body.push(bytes);
            self.take(frames);
        }
        std::mem::take(&mut self.answer.items)
    }

    /// As [`super::Decoder::finish`].
    pub fn finish(&mut self) -> Vec<Item> {
        if !self.over {
            let frames = self.body.finish();
            self.take(frames);
        }
        if !self.over {
            let start = fault::one_line(&String::from_utf8_lossy(self.body.start()));
            if !self.answer.seen && !start.is_empty() {
                let wanted = if self.answer.asked.streaming { "a stream of events" } else { "JSON" };
                self.answer.fail(format!("The server's answer is not {wanted}: {start}"));
            } else if self.answer.seen && self.answer.reason.is_none() {
                // Whatever cut it off, its calls may be half of what the model meant.
                self.answer.fail(UNFINISHED);
            }
            self.end();
        }
        std::mem::take(&mut self.answer.items)
    }

    /// As [`super::Decoder::is_whole`].
    pub fn is_whole(&self) -> bool {
        self.answer.reason.is_some()
    }

    /// As [`super::Decoder::is_over`].
    pub fn is_over(&self) -> bool {
        self.over
    }

    fn take(&mut self, frames: Vec<Frame>) {
        for frame in frames {
            if self.over {
                return;
            }
            match frame {
                Frame::Event(data) => self.data(&data),
                Frame::Error(data) => self.error(&data),
                Frame::Whole(document) => self.document(&document),
                Frame::TooLong => self.answer.fail("The server sent a single event of more than 64 MiB."),
            }
            if self.answer.failed || self.answer.closed {
                self.end();
            }
        }
    }

    /// The stream itself says that this is an error, whatever the form.
    fn error(&mut self, data: &[u8]) {
        let text = String::from_utf8_lossy(data);
        let said = serde_json::from_str::<Value>(&text).ok().as_ref().and_then(fault::message_in);
        self.answer.fail(said.unwrap_or_else(|| format!("The server reports an error: {text}")));
    }

    /// Servers that forget the blank line between two events put several in one.
    fn data(&mut self, data: &[u8]) {
        let text = halves::text(data);
        self.answer.halves |= matches!(text, Cow::Owned(_));
        let mut rest = self.values(&text);
        if let Some(mended) = halves::without_half_pairs(rest) {
            self.answer.halves = true;
            rest = if self.values(&mended).is_empty() { "" } else { rest };
        }
        match rest {
            "" => {}
            "[DONE]" => self.answer.close(),
            rest => {
                self.answer.fail(format!("The server sent an event that is not JSON: {}", fault::one_line(rest)));
            }
        }
    }

    /// Takes the JSON at the start of a text in, and returns what follows it.
    fn values<'a>(&mut self, text: &'a str) -> &'a str {
        let mut values = Deserializer::from_str(text).into_iter::<Value>();
        while let Some(Ok(value)) = values.next() {
            self.value(value);
            if self.answer.failed {
                return "";
            }
        }
        text[values.byte_offset()..].trim()
    }

    fn document(&mut self, document: &[u8]) {
        let text = halves::text(document);
        let mended = halves::without_half_pairs(&text);
        self.answer.halves |= mended.is_some() || matches!(text, Cow::Owned(_));
        if let Ok(value) = serde_json::from_str(mended.as_deref().unwrap_or(&text)) {
            self.value(value);
        }
        if self.answer.seen {
            // All of it is there, whether or not it says why the model stopped.
            self.answer.close();
        } else if !self.answer.failed {
            let said = match error_text(200, document, None) {
                said if said.is_empty() => fault::one_line(&String::from_utf8_lossy(document)),
                said => said,
            };
            self.answer.fail(format!("The server's answer is not {}: {said}", C::NAME));
        }
    }

    fn value(&mut self, value: Value) {
        match value {
            Value::Object(event) => match error_in(&event) {
                Some(error) => self.answer.fail(error),
                None => self.codec.event(event, &mut self.answer),
            },
            // A stream as one list, and gateways that put their error in one.
            Value::Array(events) => events.into_iter().for_each(|event| {
                if !self.answer.failed {
                    self.value(event);
                }
            }),
            _ => {}
        }
    }

    fn end(&mut self) {
        self.over = true;
        if !self.answer.seen {
            self.answer.fail(EMPTY);
        }
        if self.answer.failed {
            return;
        }
        let mut kept = self.codec.finish(&mut self.answer);
        let answer = &mut self.answer;
        if answer.failed {
            return;
        }
        answer.end_texts();
        if answer.halves {
            kept.iter_mut().for_each(halves::resolve);
        }
        if !answer.ids.is_empty()
            && let Value::Object(fields) = kept.get_or_insert_with(|| Value::Object(Map::new()))
        {
            fields.insert(OWN_IDS.to_owned(), std::mem::take(&mut answer.ids).into());
        }
        answer.items.extend(kept.map(|data| Item::Opaque(answer.asked.origin.opaque(data))));
        answer.items.extend(answer.usage.map(|(input, output)| Item::Usage { input, output }));
        let reason = match answer.reason.take() {
            None | Some(EndReason::Stop) if !answer.arguments.is_empty() => EndReason::ToolCalls,
            reason => reason.unwrap_or(EndReason::Stop),
        };
        answer.items.push(Item::End { reason });
    }
}

/// The error in an event, in the words for the user.
pub fn error_in(object: &Map<String, Value>) -> Option<String> {
    let error = match object.get("error") {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(Value::String(text)) if text.is_empty() => None,
        Some(Value::Object(fields)) if fields.is_empty() => None,
        Some(error) => Some(error.clone()),
    };
    let is_error = |field: &str| object.get(field).and_then(Value::as_str) == Some("error");
    let error = error.or_else(|| (is_error("object") || is_error("type")).then(|| Value::Object(object.clone())))?;
    let text = fault::message_in(&error).unwrap_or_else(|| format!("The server reports an error: {error}"));
    Some(fault::one_line(&text))
}

/// A text field of an object, taken out.
pub fn take_text(object: &mut Map<String, Value>, field: &str) -> Option<String> {
    match object.get_mut(field)? {
        Value::String(text) => Some(std::mem::take(text)),
        _ => None,
    }
}

/// A text field of an object, empty when there is none.
pub fn text_at<'a>(object: &'a Map<String, Value>, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// JSON text of the arguments that a provider sends as an object.
pub fn arguments_text(arguments: Option<&Value>) -> String {
    match arguments {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(arguments) => arguments.to_string(),
    }
}
