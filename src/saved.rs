//! Saved chats: what happened in a chat as records, one JSON object per line, and the chat that comes back from them. No
//! file is touched here (`runtime/store.rs`).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chat::restore::{Body, Look, Restored};
use crate::engine::Effect;
use crate::message::{History, Message};
use crate::tool::CallId;

/// The version of what is written here. Files of a newer one are not read.
pub const VERSION: u32 = 1;

/// A line longer than this is passed over.
const MAX_LINE_BYTES: usize = 64 << 20;

/// A chat holds no more messages and calls than this, in all.
const MAX_ENTRIES: usize = 200_000;

/// How long a title is, in characters.
const MAX_TITLE_CHARS: usize = 100;

/// How much of what was shown of a call is saved, when it is not what the model got.
const MAX_BODY_BYTES: usize = 256 << 10;

/// What a chat is besides its messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// The folder it belongs to.
    #[serde(default)]
    pub cwd: String,
    /// The name of its adapter; none: it had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Names of the tools in use, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Names of the groups in use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
}

/// One line of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum Record {
    /// The first line.
    Chat {
        /// [`VERSION`]
        v: u32,
        /// When the chat began, in seconds since 1970.
        created: u64,
        /// How it began.
        meta: Meta,
    },
    /// The tools in use, the adapter or the model are others now.
    Meta {
        /// All of it.
        meta: Meta,
    },
    /// A message joined the history. Results are records of their own.
    Message {
        /// The message.
        #[serde(with = "shared")]
        message: Arc<Message>,
    },
    /// The user was asked about a call.
    Asked {
        /// Its wire id.
        call: String,
    },
    /// A call began to run.
    Started {
        /// Its wire id.
        call: String,
    },
    /// A call has its result. Of calls that overlap, the first that is done comes first.
    Result {
        /// A tool message.
        #[serde(with = "shared")]
        message: Arc<Message>,
    },
    /// How a call looks that is over.
    Look {
        /// Its wire id.
        call: String,
        /// How.
        look: Look,
    },
    /// More of an answer. The message that follows says it all; without one, this is what is left of it.
    Text {
        /// The piece.
        text: String,
    },
    /// More of the model's reasoning.
    Reasoning {
        /// The piece.
        text: String,
    },
    /// The newest message, a text of the model, was taken back.
    TakenBack,
    /// Only the first messages are left.
    Cut {
        /// How many.
        kept: usize,
    },
    /// The history is empty.
    Cleared,
    /// A turn has ended.
    TurnEnd,
}

/// A message that is held elsewhere too.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::message::Message;

    pub fn serialize<S: Serializer>(message: &Arc<Message>, serializer: S) -> Result<S::Ok, S::Error> {
        message.as_ref().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Message>, D::Error> {
        Message::deserialize(deserializer).map(Arc::new)
    }
}

impl Record {
    /// Appends it as a line.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let before = bytes.len();
        if serde_json::to_writer(&mut *bytes, self).is_err() {
            // It has no map whose keys are not texts, and a vector takes all. Half a line would cost the next one too.
            bytes.truncate(before);
            return;
        }
        bytes.push(b'\n');
    }
}

/// Turns effects into records. Cheap, since it works on the main loop: texts of messages are shared, not copied.
#[derive(Debug, Default)]
pub struct Recorder {
    /// The wire ids of calls that are not over.
    calls: HashMap<CallId, String>,
}

impl Recorder {
    /// Whether an effect matters at all: it is recorded, or tells of a call or of the end of a chat.
    pub fn may_record(effect: &Effect) -> bool {
        match effect {
            Effect::AddMessage { message, .. } => !matches!(message.as_ref(), Message::Tool { .. }),
            Effect::RunCmd { cmd, .. } => *cmd == 0,
            Effect::RunOutput { .. } | Effect::PrepareCall { .. } | Effect::FindFact { .. } => false,
            Effect::StoreText { .. } | Effect::RunExit { .. } | Effect::Log { .. } => false,
            _ => true,
        }
    }

    /// What is to be written of an effect.
    pub fn record(&mut self, effect: &Effect) -> Option<Record> {
        match effect {
            Effect::AddMessage { message, .. } => match message.as_ref() {
                // Written when the call was over.
                Message::Tool { .. } => None,
                Message::System { .. } | Message::User { .. } | Message::Llm { .. } => {
                    Some(Record::Message { message: Arc::clone(message) })
                }
            },
            Effect::AddCall { call, wire_id, .. } => {
                self.calls.insert(*call, wire_id.clone());
                None
            }
            Effect::AskApproval { call, .. } => self.wire_id(*call).map(|call| Record::Asked { call }),
            Effect::RunCmd { call, cmd: 0, .. } => self.wire_id(*call).map(|call| Record::Started { call }),
            Effect::FinishCall { message, .. } => Some(Record::Result { message: Arc::clone(message) }),
            Effect::ShowText { text, .. } => Some(Record::Text { text: text.clone() }),
            Effect::ShowReasoning { text, .. } => Some(Record::Reasoning { text: text.clone() }),
            Effect::TakeBackMessage { .. } => Some(Record::TakenBack),
            Effect::CutHistory { kept, .. } => Some(Record::Cut { kept: *kept }),
            Effect::ClearChat { .. } => Some(Record::Cleared),
            Effect::FinishTurn { .. } => Some(Record::TurnEnd),
            Effect::TakeInput { .. }
            | Effect::HoldInput { .. }
            | Effect::StartTurn { .. }
            | Effect::SendRequest { .. }
            | Effect::AbortRequest { .. }
            | Effect::FinishRequest { .. }
            | Effect::ShowProviderCall { .. }
            | Effect::RestoreMessage { .. }
            | Effect::RestoreCall { .. }
            | Effect::CheckCalls { .. }
            | Effect::StartBatch { .. }
            | Effect::PrepareCall { .. }
            | Effect::FindFact { .. }
            | Effect::FindSaved { .. }
            | Effect::LoadPermissions { .. }
            | Effect::FindPairs { .. }
            | Effect::SaveApproval { .. }
            | Effect::AskJudge { .. }
            | Effect::EndJudge { .. }
            | Effect::CloseQuestion { .. }
            | Effect::RunCmd { .. }
            | Effect::StoreText { .. }
            | Effect::KillJobs { .. }
            | Effect::RunOutput { .. }
            | Effect::RunExit { .. }
            | Effect::CutContent { .. }
            | Effect::FinishBatch { .. }
            | Effect::Notify { .. }
            | Effect::Tell { .. }
            | Effect::CloseChat { .. }
            | Effect::Log { .. } => None,
        }
    }

    /// What is to be written of the looks of a call that is over, the last that is heard of it.
    pub fn look(&mut self, call: CallId, mut look: Look) -> Option<Record> {
        let call = self.calls.remove(&call)?;
        if let Body::Text(text) = &mut look.body
            && text.len() > MAX_BODY_BYTES
        {
            let end = (0..=MAX_BODY_BYTES).rev().find(|end| text.is_char_boundary(*end));
            text.truncate(end.unwrap_or_default());
        }
        Some(Record::Look { call, look })
    }

    fn wire_id(&self, call: CallId) -> Option<String> {
        self.calls.get(&call).cloned()
    }
}

/// A chat as its file tells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saved {
    /// The version of the file's first line; 0: it has none.
    pub version: u32,
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
        let used = record.is_some_and(|record| loader.take(record));
        *(if used { &mut loader.saved.records } else { &mut loader.saved.restored.skipped }) += 1;
    }
    loader.finish()
}

/// The first line of a user's message, as a title.
pub fn title(message: &Message) -> Option<String> {
    let Message::User { content, visible: true, typed, attachments: _ } = message else { return None };
    let text = typed.as_deref().unwrap_or(content);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(match line.char_indices().nth(MAX_TITLE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    })
}

/// How far a call without a result had come.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Queued,
    Asked,
    Started,
}

#[derive(Debug)]
struct Open {
    /// Tells which call came first.
    number: usize,
    name: String,
    stage: Stage,
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
    /// Takes a record in. False: it cannot be used.
    fn take(&mut self, record: Record) -> bool {
        match record {
            Record::Chat { v, meta, .. } => {
                self.saved.version = self.saved.version.max(v);
                self.saved.meta = meta;
            }
            Record::Meta { meta } => self.saved.meta = meta,
            Record::Message { message } | Record::Result { message } => return self.message(message),
            Record::Asked { call } => return self.stage(&call, Stage::Asked),
            Record::Started { call } => return self.stage(&call, Stage::Started),
            Record::Look { call, look } => {
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
            Record::Cut { kept } => {
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
                self.history.cut(kept);
            }
            Record::Cleared => {
                let Saved { version, records, meta, restored, .. } = std::mem::take(&mut self.saved);
                let meta = Meta { tools: Vec::new(), groups: Vec::new(), ..meta };
                let restored = Restored { skipped: restored.skipped, ..Restored::default() };
                *self =
                    Self { saved: Saved { version, records, meta, restored, ..Saved::default() }, ..Self::default() };
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
            self.open.insert(id, Open { number: self.entries + at, name: call.name.clone(), stage: Stage::Queued });
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

    fn stage(&mut self, call: &str, stage: Stage) -> bool {
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
            let stage = if at == 0 && stage == Stage::Queued { Stage::Started } else { stage };
            let (content, state, fact) = match stage {
                Stage::Queued => ("not run: the chat was interrupted before this call", "cancelled", "not run"),
                Stage::Asked => {
                    ("not run: the chat was interrupted while the user was being asked", "cancelled", "not run")
                }
                Stage::Started => (
                    "state unknown: the chat was interrupted when this call had its turn. It may have done all of its work, \
                     some or none. Look before you do it again.",
                    "stopped",
                    "state unknown",
                ),
            };
            let restored = &mut self.saved.restored;
            let list = if stage == Stage::Started { &mut restored.unknown } else { &mut restored.not_run };
            list.push(name);
            let message = Message::Tool {
                wire_id: id.clone(),
                content: content.to_owned(),
                is_error: true,
                attachments: Vec::new(),
            };
            let message = Arc::new(message);
            self.history.push_shared(Arc::clone(&message));
            self.saved.made.push(Record::Result { message });
            let look = Look { state: state.to_owned(), fact: Some(fact.to_owned()), ..Look::default() };
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

#[cfg(test)]
mod tests;
