//! A saved chat that comes back.

use std::sync::Arc;

use serde_json::json;

use super::hand::*;
use crate::engine::effect::{CallEffect, ChatEffect, Effect, Notice};
use crate::engine::event::ChatEvent;
use crate::engine::restore::{Interruption, Look, Restored};
use crate::message::{Call, History, Message};

#[test]
fn a_restored_chat_comes_back_in_order_and_goes_on_with_a_valid_request() {
    let message = |message: Message| Arc::new(message);
    let call = |id: &str| Call { wire_id: id.into(), name: "glob".into(), arguments: "{}".into(), extra: None };
    let user = message(Message::User { content: "go".into(), visible: true, typed: None, attachments: vec![] });
    let calls = vec![call("c1"), call("c2")];
    let llm = message(Message::Llm { content: String::new(), reasoning: String::new(), calls, opaque: None });
    let result = |id: &str| {
        message(Message::Tool {
            wire_id: id.into(),
            content: format!("result of {id}"),
            is_error: false,
            attachments: vec![],
        })
    };
    let mut history = History::default();
    for message in [&user, &llm, &result("c2"), &result("c1")] {
        history.push_shared(Arc::clone(message));
    }
    let look = Look { state: "success".into(), head: "glob  *".into(), ..Look::default() };
    let looks = [("c2".to_owned(), look.clone())].into();
    let restored = Restored { history, looks, unknown: vec!["glob".into(); 2], ..Restored::default() };
    let mut hand = Hand::new();
    let chat = hand.chat;
    let effects = hand.tell(ChatEvent::Restored(restored.clone()));
    let shown =
        |message: &Arc<Message>| Effect::chat(chat, ChatEffect::RestoreMessage { message: Arc::clone(message) });
    let shown_call = |index, id: &str, look| {
        let (message, result) = (Arc::clone(&llm), result(id));
        Effect::chat(chat, ChatEffect::RestoreCall { message, index, result, look })
    };
    let interruption = Interruption { unknown: vec!["glob".into(); 2], ..Interruption::default() };
    assert_eq!(
        effects,
        vec![
            shown(&user),
            shown(&llm),
            shown_call(0, "c1", None),
            shown_call(1, "c2", Some(look)),
            shown(&result("c1")),
            shown(&result("c2")),
            Effect::chat(chat, ChatEffect::Notify(Notice::Restored(interruption))),
        ]
    );
    assert!(matches!(hand.tell(ChatEvent::Restored(restored))[..], [Effect::Log { .. }]), "it is not empty");
    // An id that a saved call has is not given again.
    let effects = hand.calls("more", &[("c1", "glob", Ok(json!({})))]);
    let given = effects.iter().find_map(|effect| match effect {
        Effect::Addressed { effect: ChatEffect::Call { effect: CallEffect::AddCall { wire_id, .. }, .. }, .. } => {
            Some(wire_id.as_str())
        }
        _ => None,
    });
    assert_eq!(given, Some("call_lathe_1"));
}

#[test]
fn half_an_answer_that_was_saved_is_taken_back_when_it_is_asked_for_again() {
    let mut history = History::default();
    history.push(Message::User { content: "go".into(), visible: true, typed: None, attachments: vec![] });
    history.push(Message::Llm { content: "half".into(), reasoning: String::new(), calls: Vec::new(), opaque: None });
    let mut hand = Hand::new();
    let chat = hand.chat;
    let restored = Restored { history, interrupted: true, ..Restored::default() };
    hand.tell(ChatEvent::Restored(restored));
    hand.tell(ChatEvent::Submitted);
    let effects = hand.tell(ChatEvent::InputTaken { text: None, typed: None });
    assert_eq!(effects[0], Effect::chat(chat, ChatEffect::TakeBackMessage));
    assert!(sends(&effects));
}
