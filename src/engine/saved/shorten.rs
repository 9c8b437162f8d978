//! What is saved of a message that is too long for a line of its chat's file: enough to go on with, and where the whole is.

use std::sync::Arc;

use super::Record;
use crate::message::{Call, Message};

/// How much is kept of each text of the message.
const KEPT_BYTES: usize = 64 << 10;

/// A message keeps no more calls than this.
const KEPT_CALLS: usize = 10_000;

/// A record that fits, in place of one that does not. `whole`: the file that holds that; none: the rest is lost. Gives none
/// when it is no message, and nothing of it can be kept.
pub fn shorten(record: &Record, whole: Option<&str>) -> Option<Record> {
    let shorter = |message: &Arc<Message>| Arc::new(shorten_message(message, whole));
    match record {
        Record::Message { message } => Some(Record::Message { message: shorter(message) }),
        Record::Result { message } => Some(Record::Result { message: shorter(message) }),
        Record::Chat { .. }
        | Record::Meta { .. }
        | Record::Asked { .. }
        | Record::Started { .. }
        | Record::Look { .. }
        | Record::Text { .. }
        | Record::Reasoning { .. }
        | Record::TakenBack
        | Record::Truncated { .. }
        | Record::Cleared
        | Record::TurnEnd => None,
    }
}

fn shorten_message(message: &Message, whole: Option<&str>) -> Message {
    let place = whole.map_or_else(|| "the rest is lost".to_owned(), |file| format!("the whole of it is in {file}"));
    let content = |text: &str| {
        let kept = beginning(text);
        let gap = if kept.is_empty() { "" } else { "\n" };
        format!("{kept}{gap}[cut: this message was too long to be saved here; {place}]")
    };
    match message {
        Message::System { content: text } => Message::System { content: content(text) },
        Message::User { content: text, visible, typed, attachments: _ } => Message::User {
            content: content(text),
            visible: *visible,
            typed: typed.as_deref().map(|text| beginning(text).to_owned()),
            attachments: Vec::new(),
        },
        Message::Llm { content: text, reasoning, calls, opaque: _ } => Message::Llm {
            content: content(text),
            reasoning: beginning(reasoning).to_owned(),
            calls: calls.iter().take(KEPT_CALLS).map(shorten_call).collect(),
            opaque: None,
        },
        Message::Tool { wire_id, content: text, is_error, attachments: _ } => Message::Tool {
            wire_id: wire_id.clone(),
            content: content(text),
            is_error: *is_error,
            attachments: Vec::new(),
        },
    }
}

/// Half of the arguments would be other arguments.
fn shorten_call(call: &Call) -> Call {
    let fits = call.arguments.len() <= KEPT_BYTES / 64;
    let arguments = if fits { call.arguments.clone() } else { "{}".to_owned() };
    Call { wire_id: call.wire_id.clone(), name: beginning(&call.name).to_owned(), arguments, extra: None }
}

fn beginning(text: &str) -> &str {
    if text.len() <= KEPT_BYTES {
        return text;
    }
    let end = (0..=KEPT_BYTES).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}
