//! The chat that comes back from records, whatever a file holds.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::recorder::MAX_BODY_BYTES;
use super::{MAX_LINE_BYTES, Meta, Record, VERSION};
use crate::engine::outcome::Interrupted;
use crate::engine::restore::{Body, Look, Restored};
use crate::message::{History, Message};

/// A chat holds no more messages and calls than this, in all.
pub(super) const MAX_ENTRIES: usize = 200_000;

/// How long a title is, in characters.
pub(super) const MAX_TITLE_CHARS: usize = 100;

/// More files than these are not named below a call.
const MAX_FILES: usize = 100;

/// How much of what is said to be a version is shown.
const MAX_VERSION_CHARS: usize = 40;

/// A chat as its file tells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saved {
    /// What the file says of its version when that is not [`VERSION`], as JSON.
    pub foreign_version: Option<String>,
    /// How many lines were used.
    pub records: usize,
    /// It goes on where the limits end: not all of it was read.
    pub is_too_long: bool,
    /// The last that was said of it.
    pub meta: Meta,
    /// The first line of the user's first message.
    pub title: Option<String>,
    /// The chat.
    pub restored: Restored,
    /// What the file lacks for a history without gaps: results of calls that have none, half an answer as a message.
    pub made: Vec<Record>,
}

/// Reads a file. Lines that are broken, cut off or unknown are passed over and counted.
pub fn load(bytes: &[u8]) -> Saved {
    let mut loader = Loader::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if loader.entries > MAX_ENTRIES {
            loader.saved.is_too_long = true;
            break;
        }
        let record = if line.len() > MAX_LINE_BYTES { None } else { serde_json::from_slice(line).ok() };
        let used = match record {
            Some(record) => loader.take(record),
            None => {
                loader.note_version(line);
                false
            }
        };
        *(if used { &mut loader.saved.records } else { &mut loader.saved.restored.skipped }) += 1;
    }
    loader.finish()
}

/// The first line of a user's message, as a title.
pub fn title(message: &Message) -> Option<String> {
    let Message::User { content, visible: true, typed, attachments: _ } = message else { return None };
    let text = typed.as_deref().unwrap_or(content);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let shown = match line.char_indices().nth(MAX_TITLE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    };
    // It becomes one line of a list.
    Some(shown.replace(char::is_control, " "))
}

/// Nothing of a look is longer than what is written of one.
fn fit(look: &mut Look) {
    let Look { state, head, fact, files, body } = look;
    let body = if let Body::Text(text) = body { Some(text) } else { None };
    files.truncate(MAX_FILES);
    for text in [Some(state), Some(head), fact.as_mut(), body].into_iter().flatten().chain(files) {
        let end = (0..=MAX_BODY_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or_default());
    }
}

#[derive(Debug)]
struct Open {
    /// Tells which call came first.
    number: usize,
    name: String,
    stage: Interrupted,
}

#[derive(Default)]
struct Loader {
    saved: Saved,
    history: History,
    /// Messages and calls so far.
    entries: usize,
    /// Calls without a result, by wire id.
    open: HashMap<String, Open>,
    /// Wire ids of all calls of the history: no two may share one.
    used: HashSet<String>,
    /// What an id of the file is called here, when it is there twice.
    renamed: HashMap<String, String>,
    made_ids: usize,
    /// What has arrived of an answer.
    content: String,
    reasoning: String,
}

impl Loader {
    /// Looks for a version in a line that is no record: who wrote it may have written all of the file in another way.
    fn note_version(&mut self, line: &[u8]) {
        if line.len() > MAX_LINE_BYTES {
            return;
        }
        let Ok(Value::Object(fields)) = serde_json::from_slice::<Value>(line) else { return };
        if fields.get("t").and_then(Value::as_str) == Some("chat") {
            self.version(fields.get("v").unwrap_or(&Value::Null));
        }
    }

    fn version(&mut self, version: &Value) {
        if version.as_u64() != Some(VERSION.into()) {
            let shown = version.to_string().chars().take(MAX_VERSION_CHARS).collect();
            self.saved.foreign_version.get_or_insert(shown);
        }
    }

    /// Takes a record in. False: it cannot be used.
    fn take(&mut self, record: Record) -> bool {
        match record {
            Record::Chat { v, meta, .. } => {
                self.version(&Value::from(v));
                self.saved.meta = meta;
            }
            Record::Meta { meta } => self.saved.meta = meta,
            Record::Message { message } | Record::Result { message } => return self.message(message),
            Record::Asked { call } => return self.stage(&call, Interrupted::Asked),
            Record::Started { call } => return self.stage(&call, Interrupted::Started),
            Record::Look { call, mut look } => {
                fit(&mut look);
                let call = self.id(&call).to_owned();
                if !self.used.contains(&call) {
                    return false;
                }
                self.saved.restored.looks.insert(call, look);
            }
            Record::Text { text } => self.content.push_str(&text),
            Record::Reasoning { text } => self.reasoning.push_str(&text),
            Record::TakenBack => {
                self.settle_for_good();
                return self.history.take_back();
            }
            Record::Truncated { kept } => {
                self.settle_for_good();
                let messages = self.history.messages();
                // A cut between the results of an answer would leave calls without one: the answer goes as well.
                let is_result = |at: usize| matches!(messages.get(at).map(AsRef::as_ref), Some(Message::Tool { .. }));
                let kept = (0..=kept.min(messages.len())).rev().find(|at| !is_result(*at)).unwrap_or_default();
                for message in messages.iter().skip(kept) {
                    if let Message::Llm { calls, .. } = message.as_ref() {
                        for call in calls {
                            self.used.remove(&call.wire_id);
                        }
                    }
                }
                self.history.truncate(kept);
            }
            Record::Cleared => {
                let Saved { foreign_version, records, meta, restored, .. } = std::mem::take(&mut self.saved);
                let meta = Meta { tools: Vec::new(), groups: Vec::new(), ..meta };
                let restored = Restored { skipped: restored.skipped, ..Restored::default() };
                let saved = Saved { foreign_version, records, meta, restored, ..Saved::default() };
                *self = Self { saved, ..Self::default() };
            }
            Record::TurnEnd => self.forget_partial(),
        }
        true
    }

    fn message(&mut self, message: Arc<Message>) -> bool {
        if matches!(message.as_ref(), Message::Llm { calls, .. } if calls.len() > MAX_ENTRIES) {
            return false;
        }
        self.entries += 1;
        if !self.open.is_empty() && !matches!(message.as_ref(), Message::Tool { .. }) {
            // The chat went on without them.
            self.settle_for_good();
        }
        let message = match message.as_ref() {
            Message::Tool { wire_id, content, is_error, attachments } => {
                let id = self.id(wire_id).to_owned();
                if self.open.remove(&id).is_none() {
                    return false;
                }
                if id == *wire_id {
                    message
                } else {
                    Arc::new(Message::Tool {
                        wire_id: id,
                        content: content.clone(),
                        is_error: *is_error,
                        attachments: attachments.clone(),
                    })
                }
            }
            Message::Llm { .. } => {
                self.forget_partial();
                self.answer(message)
            }
            Message::User { .. } => {
                self.forget_partial();
                self.saved.title = self.saved.title.take().or_else(|| title(&message));
                message
            }
            Message::System { .. } => message,
        };
        self.history.push_shared(message);
        true
    }

    /// An answer whose calls are fit to be sent: with ids of their own, and arguments that are an object.
    fn answer(&mut self, message: Arc<Message>) -> Arc<Message> {
        let Message::Llm { content, reasoning, calls, opaque } = message.as_ref() else { return message };
        self.entries += calls.len();
        let mut changed = None;
        for (at, call) in calls.iter().enumerate() {
            let mut id = call.wire_id.clone();
            while id.is_empty() || !self.used.insert(id.clone()) {
                self.made_ids += 1;
                id = format!("call_lathe_s{}", self.made_ids);
            }
            let is_object = matches!(serde_json::from_str(&call.arguments), Ok(Value::Object(_)));
            let has_fit_extra = call.extra.as_ref().is_none_or(Value::is_object);
            if id == call.wire_id {
                self.renamed.remove(&id);
            } else if !self.open.contains_key(&call.wire_id) {
                self.renamed.insert(call.wire_id.clone(), id.clone());
            }
            if id != call.wire_id || !is_object || !has_fit_extra {
                let calls = changed.get_or_insert_with(|| calls.clone());
                calls[at].wire_id.clone_from(&id);
                if !is_object {
                    calls[at].arguments = "{}".to_owned();
                }
                calls[at].extra.take_if(|_| !has_fit_extra);
            }
            self.open
                .insert(id, Open { number: self.entries + at, name: call.name.clone(), stage: Interrupted::Queued });
        }
        match changed {
            Some(calls) => Arc::new(Message::Llm {
                content: content.clone(),
                reasoning: reasoning.clone(),
                calls,
                // It names calls by their places, which stay.
                opaque: opaque.clone(),
            }),
            None => message,
        }
    }

    fn stage(&mut self, call: &str, stage: Interrupted) -> bool {
        let id = self.id(call).to_owned();
        match self.open.get_mut(&id) {
            Some(open) => {
                open.stage = stage;
                true
            }
            None => false,
        }
    }

    fn id<'a>(&'a self, call: &'a str) -> &'a str {
        self.renamed.get(call).map_or(call, String::as_str)
    }

    fn forget_partial(&mut self) {
        self.content.clear();
        self.reasoning.clear();
    }

    /// Gives calls that have none a result.
    fn settle(&mut self) {
        let mut open: Vec<_> = self.open.drain().collect();
        open.sort_by_key(|(_, open)| open.number);
        for (at, (id, Open { name, stage, .. })) in open.into_iter().enumerate() {
            // The first that waits was about to start: what it did at once may have ended the editor.
            let stage = if at == 0 && stage == Interrupted::Queued { Interrupted::Started } else { stage };
            let state = if stage == Interrupted::Started { Look::UNKNOWN } else { Look::NOT_RUN };
            let restored = &mut self.saved.restored;
            let list = if stage == Interrupted::Started { &mut restored.unknown } else { &mut restored.not_run };
            list.push(name);
            let message = Message::Tool {
                wire_id: id.clone(),
                content: stage.text().to_owned(),
                is_error: true,
                attachments: Vec::new(),
            };
            let message = Arc::new(message);
            self.history.push_shared(Arc::clone(&message));
            self.saved.made.push(Record::Result { message });
            let look = Look { state: state.to_owned(), ..Look::default() };
            restored.looks.insert(id.clone(), look.clone());
            self.saved.made.push(Record::Look { call: id, look });
        }
        self.history.repair();
    }

    /// The same in the middle of a file. It is done again whenever the file is read, so nothing need be added to that.
    fn settle_for_good(&mut self) {
        self.settle();
        self.saved.made.clear();
        self.saved.restored.not_run.clear();
        self.saved.restored.unknown.clear();
    }

    fn finish(mut self) -> Saved {
        self.settle();
        // Reasoning without an answer is nothing that could be sent.
        if !self.content.is_empty() {
            let (content, reasoning) = (self.content, self.reasoning);
            let message = Arc::new(Message::Llm { content, reasoning, calls: Vec::new(), opaque: None });
            self.history.push_shared(Arc::clone(&message));
            self.history.repair();
            self.saved.made.push(Record::Message { message });
            self.saved.restored.interrupted = true;
        }
        self.saved.restored.history = self.history;
        self.saved
    }
}
