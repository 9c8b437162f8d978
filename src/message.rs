//! Messages and the history they form: what the model has seen and said. Repair of call/result pairs lives here.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions of the user's configuration and of tools.
    System,
    /// The person at the keyboard.
    User,
    /// The model.
    Llm,
    /// A tool result.
    Tool,
}

/// One request by the model to run a tool, as it is kept in the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's id of the call, unique in its history (made by us when the provider sent none, or one twice).
    pub wire_id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments, byte for byte as the model wrote them when they are one JSON object, else `{}`.
    pub arguments: String,
    /// What the provider sent along with the call and wants back with it (R052), an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Value>,
}

/// A picture that a tool gave, in a form that providers take. The result's text tells of it too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// For example `image/png`.
    pub mime: String,
    /// The bytes, as base64.
    pub data: String,
}

/// What only a provider understands of an answer and wants back with it: signatures, encrypted reasoning, what it ran
/// itself. It goes back as it came, and to nobody else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opaque {
    /// The name of the adapter that it came from.
    pub adapter: String,
    /// The model that it came from, may be empty.
    #[serde(default)]
    pub model: String,
    /// As the codec keeps it.
    pub data: Value,
}

/// One entry of the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// Instructions.
    System {
        /// Markdown text.
        content: String,
    },
    /// What the user said.
    User {
        /// Markdown text.
        content: String,
        /// Whether the chat buffer shows it.
        visible: bool,
        /// What the user typed, where the model reads more or something else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        typed: Option<String>,
        /// Pictures for models that take them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
    },
    /// What the model said, and the calls it asked for.
    Llm {
        /// Markdown text, may be empty.
        content: String,
        /// The model's reasoning, may be empty.
        reasoning: String,
        /// Tool calls in the order of the model.
        calls: Vec<Call>,
        /// For the provider that said it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Opaque>,
    },
    /// The single answer to one call.
    Tool {
        /// `Call::wire_id` of the call that it answers.
        wire_id: String,
        /// What the model reads.
        content: String,
        /// Whether the call failed.
        is_error: bool,
        /// Pictures for models that take them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
    },
}

/// The messages of a chat, kept so that every call has exactly one result right after its message, in call order, and
/// every result has its call: no provider ever sees an unpaired one.
#[derive(Clone, Debug, Default)]
pub struct History {
    messages: Vec<Arc<Message>>,
    /// Messages before this index are known to be paired; repair never looks at them again.
    paired: usize,
}

impl PartialEq for History {
    /// Whether both hold the same messages; which of them are known to be paired is no matter.
    fn eq(&self, other: &Self) -> bool {
        self.messages == other.messages
    }
}

/// What a repair changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repair {
    /// Results made for calls that had none.
    pub added: usize,
    /// Results dropped: their call is unknown, or was answered already.
    pub dropped: usize,
}

/// The result of a call whose real one never came.
pub const NO_RESULT: &str = "no result: the call was not run, or its result was lost";

impl History {
    /// Takes over messages from elsewhere (a saved chat, `chat({ messages })`) and repairs them.
    pub fn load(messages: Vec<Message>) -> (Self, Repair) {
        let mut history = Self { messages: messages.into_iter().map(Arc::new).collect(), paired: 0 };
        let repair = history.repair();
        (history, repair)
    }

    /// The messages, oldest first. Cheap to keep: a request clones the list, not the texts.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// The newest message.
    pub fn last(&self) -> Option<&Message> {
        self.messages.last().map(AsRef::as_ref)
    }

    /// Appends a message. Results may still be missing until [`History::repair`].
    pub fn push(&mut self, message: Message) {
        self.push_shared(Arc::new(message));
    }

    /// The same for a message that others hold as well.
    pub fn push_shared(&mut self, message: Arc<Message>) {
        self.messages.push(message);
    }

    /// Takes back the newest message, when it is the model's and asks for nothing.
    pub fn take_back(&mut self) -> bool {
        let is_text = matches!(self.last(), Some(Message::Llm { calls, .. }) if calls.is_empty());
        if is_text {
            self.messages.pop();
            self.paired = self.paired.min(self.messages.len());
        }
        is_text
    }

    /// Where the newest message is that the user sees as theirs.
    pub fn last_visible_user(&self) -> Option<usize> {
        self.messages.iter().rposition(|message| matches!(message.as_ref(), Message::User { visible: true, .. }))
    }

    /// Keeps only the first `kept` messages.
    pub fn truncate(&mut self, kept: usize) {
        self.messages.truncate(kept);
        self.paired = self.paired.min(kept);
    }

    /// Empties the history.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Makes the pairing hold again, and costs only what came since the last repair. Called before every request and
    /// after loading.
    pub fn repair(&mut self) -> Repair {
        let mut repair = Repair::default();
        if !is_paired(&self.messages[self.paired..]) {
            let tail = self.messages.split_off(self.paired);
            self.messages.extend(pair(tail, &mut repair));
        }
        self.paired = self.messages.len();
        repair
    }
}

/// Whether every call is answered at once, in order, and nothing else is answered.
fn is_paired(messages: &[Arc<Message>]) -> bool {
    let mut awaited: std::collections::VecDeque<&str> = Default::default();
    for message in messages {
        match message.as_ref() {
            Message::Tool { wire_id, .. } => {
                if awaited.pop_front() != Some(wire_id.as_str()) {
                    return false;
                }
            }
            _ if !awaited.is_empty() => return false,
            Message::Llm { calls, .. } => awaited.extend(calls.iter().map(|call| call.wire_id.as_str())),
            Message::System { .. } | Message::User { .. } => {}
        }
    }
    awaited.is_empty()
}

/// Puts each result behind its call's message. A result belongs to the last message before it that has a call with its
/// id; the first result of a call counts.
fn pair(messages: Vec<Arc<Message>>, repair: &mut Repair) -> Vec<Arc<Message>> {
    type Slots = Vec<Option<Arc<Message>>>;
    let mut rest: Vec<(Arc<Message>, Slots)> = Vec::with_capacity(messages.len());
    let mut open: HashMap<String, (usize, usize)> = HashMap::new();
    for message in messages {
        match message.as_ref() {
            Message::Tool { wire_id, .. } => match open.get(wire_id).and_then(|&(at, slot)| rest[at].1.get_mut(slot)) {
                Some(result @ None) => *result = Some(message),
                Some(Some(_)) | None => repair.dropped += 1,
            },
            Message::Llm { calls, .. } => {
                let at = rest.len();
                let results = calls.iter().map(|_| None).collect();
                open.extend(calls.iter().enumerate().map(|(slot, call)| (call.wire_id.clone(), (at, slot))));
                rest.push((message, results));
            }
            Message::System { .. } | Message::User { .. } => rest.push((message, Vec::new())),
        }
    }
    let mut paired = Vec::with_capacity(rest.len());
    for (message, results) in rest {
        if let Message::Llm { calls, .. } = message.as_ref() {
            let results: Vec<_> = calls
                .iter()
                .zip(results)
                .map(|(call, result)| result.unwrap_or_else(|| lost_result(call, repair)))
                .collect();
            paired.push(message);
            paired.extend(results);
        } else {
            paired.push(message);
        }
    }
    paired
}

fn lost_result(call: &Call, repair: &mut Repair) -> Arc<Message> {
    repair.added += 1;
    Arc::new(Message::Tool {
        wire_id: call.wire_id.clone(),
        content: NO_RESULT.into(),
        is_error: true,
        attachments: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn user(content: &str) -> Message {
        Message::User { content: content.into(), visible: true, typed: None, attachments: vec![] }
    }

    fn llm(ids: &[&str]) -> Message {
        let calls = ids.iter().map(|id| Call {
            wire_id: (*id).into(),
            name: "glob".into(),
            arguments: "{}".into(),
            extra: None,
        });
        let calls = calls.collect();
        Message::Llm { content: String::new(), reasoning: String::new(), calls, opaque: None }
    }

    fn result(id: &str) -> Message {
        Message::Tool { wire_id: id.into(), content: format!("result of {id}"), is_error: false, attachments: vec![] }
    }

    fn lost(id: &str) -> Message {
        Message::Tool { wire_id: id.into(), content: NO_RESULT.into(), is_error: true, attachments: vec![] }
    }

    fn loaded(messages: Vec<Message>) -> Vec<Message> {
        History::load(messages).0.messages().iter().map(|message| message.as_ref().clone()).collect()
    }

    #[test]
    fn what_a_provider_wants_back_survives_being_saved_byte_for_byte() {
        let data = serde_json::json!({"blocks": [{"signature": "Er+/=\u{7f}é", "n": 1.5e300}], "z": 1, "a": null});
        let opaque = Some(Opaque { adapter: "a".into(), model: "m".into(), data });
        let message = Message::Llm { content: "x".into(), reasoning: String::new(), calls: Vec::new(), opaque };
        let saved = serde_json::to_string(&message).expect("JSON");
        assert_eq!(serde_json::from_str::<Message>(&saved).expect("a message"), message);
        let old = r#"{"Llm":{"content":"x","reasoning":"","calls":[]}}"#;
        assert!(matches!(serde_json::from_str(old), Ok(Message::Llm { opaque: None, .. })));
    }

    #[test]
    fn r026_a_call_without_result_gets_one_before_the_next_message() {
        assert_eq!(loaded(vec![llm(&["c1"]), user("hi")]), vec![llm(&["c1"]), lost("c1"), user("hi")]);
    }

    #[test]
    fn r033_a_result_without_its_call_is_dropped() {
        assert_eq!(loaded(vec![result("t1"), user("hi")]), vec![user("hi")]);
    }

    #[test]
    fn r034_results_follow_their_calls_in_call_order() {
        assert_eq!(
            loaded(vec![llm(&["g1", "g2", "g3"]), result("g3"), result("g1"), user("hi"), result("g2"), result("g1")]),
            vec![llm(&["g1", "g2", "g3"]), result("g1"), result("g2"), result("g3"), user("hi")]
        );
    }

    #[test]
    fn repair_looks_only_at_what_is_new() {
        let (mut history, _) = History::load(vec![llm(&["a"]), result("a")]);
        history.push(result("a"));
        assert_eq!(history.repair(), Repair { added: 0, dropped: 1 });
        assert_eq!(history.messages().len(), 2);
    }

    fn any_message() -> impl Strategy<Value = Message> {
        let id = prop::sample::select(vec!["a", "b", "c", "d"]);
        prop_oneof![
            Just(user("u")),
            id.clone().prop_map(result),
            prop::collection::hash_set(id, 0..4).prop_map(|ids| llm(&ids.into_iter().collect::<Vec<_>>())),
        ]
    }

    proptest! {
        #[test]
        fn repaired_histories_are_paired_whole_and_by_pieces(
            messages in prop::collection::vec(any_message(), 0..30),
            cut in 0usize..30,
        ) {
            let (whole, _) = History::load(messages.clone());
            prop_assert!(is_paired(whole.messages()));
            let calls = |messages: &[Arc<Message>]| messages.iter().filter(|m| matches!(m.as_ref(), Message::Llm { .. })).count();
            prop_assert_eq!(
                calls(whole.messages()),
                messages.iter().filter(|m| matches!(m, Message::Llm { .. })).count()
            );
            let mut pieces = History::default();
            for (at, message) in messages.into_iter().enumerate() {
                pieces.push(message);
                if at % (cut + 1) == 0 {
                    pieces.repair();
                }
            }
            pieces.repair();
            prop_assert!(is_paired(pieces.messages()));
        }
    }
}
