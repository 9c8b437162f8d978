//! Written conversations: what a provider answers.

use std::sync::Arc;

use serde_json::{Value, json};

use super::hand::*;
use crate::adapter::{EndReason, Item, ProviderCall};
use crate::engine::effect::{ChatEffect, Effect, LogLevel, Notice, TurnEnd};
use crate::engine::event::{ChatEvent, Event, RequestEvent};
use crate::message::{Message, Opaque};
use crate::tool::CheckedCall;

#[test]
fn a_request_that_starts_after_the_stop_is_ended() {
    for gone in [false, true] {
        let (mut hand, request) = asked();
        let chat = hand.chat;
        hand.say(if gone { Event::chat(chat, ChatEvent::Closed) } else { Event::chat(chat, ChatEvent::Stopped) });
        let effects = hand.tell_request(request, RequestEvent::Started { tools: Arc::from([]) });
        assert!(effects.contains(&Effect::chat(chat, ChatEffect::AbortRequest { request })), "{effects:?}");
    }
}

#[test]
fn an_error_in_the_middle_of_an_answer_keeps_the_text_and_the_chat_goes_on() {
    let (mut hand, request) = asked();
    let chat = hand.chat;
    let call = Item::CallStarted { index: 0, wire_id: "c1".into(), name: "glob".into() };
    let items = vec![Item::Text("Half".into()), call, Item::Failed("overloaded".into()), Item::Text("late".into())];
    let message =
        Arc::new(Message::Llm { content: "Half".into(), reasoning: String::new(), calls: vec![], opaque: None });
    assert_eq!(
        hand.tell_request(request, RequestEvent::Items(items)),
        vec![
            Effect::chat(chat, ChatEffect::ShowText { text: "Half".into() }),
            Effect::chat(chat, ChatEffect::AbortRequest { request }),
            Effect::chat(chat, ChatEffect::FinishRequest { request, failed: true, usage: None }),
            Effect::chat(chat, ChatEffect::AddMessage { message }),
            Effect::chat(chat, ChatEffect::Notify(Notice::RequestFailed("overloaded".to_owned().into()))),
            Effect::chat(chat, ChatEffect::FinishTurn { end: TurnEnd::Failed }),
        ]
    );
    let late = hand.tell_request(request, RequestEvent::Finished);
    assert!(matches!(late[..], [Effect::Log { level: LogLevel::Debug, .. }]));
    hand.tell(ChatEvent::Submitted);
    assert!(sends(&hand.tell(ChatEvent::InputTaken { text: Some("again".into()), typed: None })));
}

#[test]
fn an_answer_that_was_cut_off_says_so() {
    for (reason, notice) in [
        (EndReason::Length, Some(Notice::LengthStop)),
        (EndReason::ContentFilter("SAFETY".into()), Some(Notice::ContentFilter("SAFETY".into()))),
        (EndReason::Refused("bio".into()), Some(Notice::Refused("bio".into()))),
        (EndReason::Paused, Some(Notice::EndedFor("pause".into()))),
        (EndReason::Stop, None),
        (EndReason::Other("odd".into()), Some(Notice::EndedFor("odd".into()))),
    ] {
        let (mut hand, request) = asked();
        let items = vec![Item::Text("Half".into()), Item::End { reason }];
        hand.tell_request(request, RequestEvent::Items(items));
        let effects = hand.tell_request(request, RequestEvent::Finished);
        let told = effects.iter().find_map(|effect| match effect {
            Effect::Addressed { effect: ChatEffect::Notify(notice), .. } => Some(notice.clone()),
            _ => None,
        });
        assert_eq!(told, notice);
        assert_eq!(ended(&effects), Some(TurnEnd::Done));
    }
}

#[test]
fn r052_what_a_provider_sends_with_a_call_is_kept_with_it() {
    let (mut hand, request) = asked();
    let chat = hand.chat;
    let extra = |extra: Value| Item::CallExtra { index: 0, extra };
    let items = vec![
        Item::CallStarted { index: 0, wire_id: "c1".into(), name: "glob".into() },
        extra(json!({"a": "S1"})),
        extra(json!({"b": 2})),
    ];
    hand.tell_request(request, RequestEvent::Items(items));
    let effects = hand.tell_request(request, RequestEvent::Finished);
    let checked = effects.iter().find_map(|effect| match effect {
        Effect::Addressed { effect: ChatEffect::CheckCalls { calls, .. }, .. } => {
            Some(CheckedCall::new(calls[0].call, Ok(json!({}))))
        }
        _ => None,
    });
    hand.tell(ChatEvent::CallsChecked(vec![checked.expect("a call is checked")]));
    let history = hand.engine.history(chat).expect("the chat is there");
    let kept = history.messages().iter().find_map(|message| match message.as_ref() {
        Message::Llm { calls, .. } => Some(calls[0].extra.clone()),
        _ => None,
    });
    assert_eq!(kept, Some(Some(json!({"a": "S1", "b": 2}))));
}

#[test]
fn what_a_provider_wants_back_is_kept_with_its_answer_and_what_it_ran_is_shown() {
    let (mut hand, request) = asked();
    let chat = hand.chat;
    let opaque = Opaque { adapter: "a".into(), model: "m".into(), data: json!({"signature": "S1"}) };
    let ran = ProviderCall { name: "web_search".into(), label: "rust".into(), ..ProviderCall::default() };
    let items = vec![
        Item::Ran(ran.clone()),
        Item::Text("So.".into()),
        Item::Opaque(opaque.clone()),
        Item::End { reason: EndReason::Stop },
    ];
    let effects = hand.tell_request(request, RequestEvent::Items(items));
    assert!(effects.contains(&Effect::chat(chat, ChatEffect::ShowProviderCall(ran))));
    hand.tell_request(request, RequestEvent::Finished);
    let history = hand.engine.history(chat).expect("the chat is there");
    assert!(matches!(history.last(), Some(Message::Llm { opaque: Some(kept), .. }) if *kept == opaque));
}

#[test]
fn an_answer_that_pauses_goes_on_by_itself_but_not_for_ever() {
    let (mut hand, mut request) = asked();
    let chat = hand.chat;
    let opaque = Opaque { adapter: "a".into(), model: "m".into(), data: json!({}) };
    let mut pauses = 0;
    loop {
        let items = vec![Item::Opaque(opaque.clone()), Item::End { reason: EndReason::Paused }];
        hand.tell_request(request, RequestEvent::Items(items));
        let effects = hand.tell_request(request, RequestEvent::Finished);
        if ended(&effects).is_some() {
            break;
        }
        pauses += 1;
        let next = effects.iter().find_map(|effect| match effect {
            Effect::Addressed { effect: ChatEffect::SendRequest { request, .. }, .. } => Some(*request),
            _ => None,
        });
        request = next.expect("it is sent again");
    }
    assert_eq!(pauses, 20);
    let history = hand.engine.history(chat).expect("the chat is there");
    let kept = history.messages().iter().filter(|message| matches!(message.as_ref(), Message::Llm { .. }));
    assert_eq!(kept.count(), 21);
}
