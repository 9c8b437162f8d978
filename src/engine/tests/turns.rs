//! Written conversations: when a turn begins and ends, and what the history is then.

use std::sync::Arc;

use serde_json::json;

use super::hand::*;
use crate::adapter::Item;
use crate::engine::effect::{ChatEffect, Effect, Notice, TurnEnd};
use crate::engine::event::{Answer, CallEvent, ChatEvent, ChatSettings, Event, RequestEvent, RequestedCall};
use crate::message::{Message, Role};
use crate::tool::{Defined, OwnApproval};

#[test]
fn what_is_typed_meanwhile_goes_out_with_the_results_and_stays_after_a_stop() {
    for stop in [false, true] {
        let mut hand = Hand::new();
        let chat = hand.chat;
        let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
        let call = prepared(&effects)[0];
        let preparation = preparation(1, Defined { success: true, ..Defined::default() }, OwnApproval::Ask, None);
        hand.tell_call(call, CallEvent::Prepared(preparation));
        assert_eq!(hand.tell(ChatEvent::Submitted), vec![Effect::chat(chat, ChatEffect::HoldInput { waiting: true })]);
        assert_eq!(hand.tell(ChatEvent::Submitted), vec![]);
        if stop {
            let effects = hand.tell(ChatEvent::Stopped);
            assert!(effects.contains(&Effect::chat(chat, ChatEffect::HoldInput { waiting: false })));
            assert_eq!(ended(&effects), Some(TurnEnd::Stopped));
        } else {
            hand.tell_call(call, CallEvent::Answered(Answer::Accept));
            let effects = hand.succeed(call, "1");
            assert!(effects.contains(&Effect::chat(chat, ChatEffect::TakeInput)) && !sends(&effects));
            assert!(sends(&hand.tell(ChatEvent::InputTaken { text: Some("also".into()), typed: None })));
            let history = hand.engine.history(chat).expect("the chat is there").messages();
            assert_eq!(
                *history[3],
                Message::User { content: "also".into(), visible: true, typed: None, attachments: vec![] }
            );
        }
    }
}

#[test]
fn auto_submit_settings_decide_by_outcome_and_rejected_counts_as_success() {
    for (auto_submit_success, auto_submit_errors) in [(true, false), (false, true)] {
        let settings = ChatSettings { auto_submit_success, auto_submit_errors, ..ChatSettings::default() };
        let mut hand = Hand::with(settings.clone());
        let effects = hand.calls("x", &[("c1", "calculator", Err(cut_off()))]);
        assert_eq!(sends(&effects), auto_submit_errors);
        let mut hand = Hand::with(settings);
        let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
        let call = prepared(&effects)[0];
        let preparation = preparation(1, Defined::default(), OwnApproval::Ask, None);
        hand.tell_call(call, CallEvent::Prepared(preparation));
        let reason = Some("wrong dir".to_owned());
        let effects = hand.tell_call(call, CallEvent::Answered(Answer::Reject { reason }));
        assert_eq!(sends(&effects), auto_submit_success);
        assert_eq!(hand.results()[0].1, "The user rejected the calculator tool: wrong dir");
        assert_eq!(ended(&effects), (!auto_submit_success).then_some(TurnEnd::Held));
        // An empty message sends what is held.
        if !auto_submit_success {
            hand.tell(ChatEvent::Submitted);
            assert!(sends(&hand.tell(ChatEvent::InputTaken { text: None, typed: None })));
        }
    }
}

#[test]
fn half_an_answer_of_a_failed_request_is_taken_back_when_it_is_sent_again() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    hand.tell(ChatEvent::Submitted);
    let request = request_of(&hand.tell(ChatEvent::InputTaken { text: Some("hello".into()), typed: None }));
    hand.tell_request(request, RequestEvent::Items(vec![Item::Text("half".into())]));
    let effects = hand.tell_request(request, RequestEvent::Failed("reset".to_owned().into()));
    assert_eq!(ended(&effects), Some(TurnEnd::Failed));
    hand.tell(ChatEvent::Submitted);
    let effects = hand.tell(ChatEvent::InputTaken { text: None, typed: None });
    assert_eq!(effects[0], Effect::chat(chat, ChatEffect::TakeBackMessage));
    assert!(sends(&effects));
    let history = hand.engine.history(chat).expect("the chat is there").messages();
    assert_eq!(history.len(), 1);
    // A whole answer stays.
    let request = request_of(&effects);
    hand.tell_request(request, RequestEvent::Items(vec![Item::Text("whole".into())]));
    hand.tell_request(request, RequestEvent::Finished);
    hand.tell(ChatEvent::Submitted);
    let effects = hand.tell(ChatEvent::InputTaken { text: None, typed: None });
    assert_eq!(effects, vec![Effect::chat(chat, ChatEffect::Notify(Notice::NothingToSend))]);
}

#[test]
fn a_message_given_after_a_failed_request_is_not_taken_back() {
    for given_before in [false, true] {
        let (mut hand, request) = asked();
        let chat = hand.chat;
        let given = Event::chat(
            chat,
            ChatEvent::MessageGiven { role: Role::Llm, content: "given".into(), visible: true, attachments: vec![] },
        );
        let failed = Event::request(chat, request, RequestEvent::Failed("reset".to_owned().into()));
        let (first, second) = if given_before { (given, failed) } else { (failed, given) };
        hand.say(first);
        hand.say(second);
        hand.tell(ChatEvent::Submitted);
        let effects = hand.tell(ChatEvent::InputTaken { text: None, typed: None });
        assert_eq!(effects, vec![Effect::chat(chat, ChatEffect::Notify(Notice::NothingToSend))]);
    }
}

#[test]
fn requested_calls_that_a_failed_turn_drops_are_logged_by_name() {
    let (mut hand, request) = asked();
    let call = RequestedCall { wire_id: String::new(), name: "glob".into(), arguments: String::new() };
    hand.tell(ChatEvent::CallsRequested { calls: vec![call], tools: Arc::from([]), submit: false });
    let effects = hand.tell_request(request, RequestEvent::Failed("reset".to_owned().into()));
    let logged = |effect: &Effect| matches!(effect, Effect::Log { text, .. } if text.ends_with("ended: glob"));
    assert!(effects.iter().any(logged), "{effects:?}");
}

#[test]
fn a_retry_takes_the_last_answer_back_and_runs_no_tool_again() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    assert_eq!(hand.tell(ChatEvent::Retried), vec![Effect::chat(chat, ChatEffect::Notify(Notice::NothingToSend))]);
    let effects = hand.calls("100*50", &[("c1", "calculator", Ok(json!({"num1": 100})))]);
    assert_eq!(hand.tell(ChatEvent::Retried), vec![Effect::chat(chat, ChatEffect::Notify(Notice::StillRunning))]);
    let request = request_of(&hand.finish(prepared(&effects)[0], "5000"));
    hand.tell_request(request, RequestEvent::Items(vec![Item::Text("It is 5000.".into())]));
    hand.tell_request(request, RequestEvent::Finished);
    let effects = hand.tell(ChatEvent::Retried);
    assert_eq!(
        effects[..2],
        [Effect::chat(chat, ChatEffect::TakeBackMessage), Effect::chat(chat, ChatEffect::StartTurn)]
    );
    let request = request_of(&effects);
    assert_eq!(hand.results(), vec![("c1".into(), "5000".into(), false)]);
    // One that failed before it said anything is sent again as it was.
    hand.tell_request(request, RequestEvent::Failed("overloaded".to_owned().into()));
    let effects = hand.tell(ChatEvent::Retried);
    assert_eq!(effects[0], Effect::chat(chat, ChatEffect::StartTurn));
    assert!(sends(&effects));
}

#[test]
fn editing_the_last_message_forgets_it_and_what_came_of_it() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let nothing = vec![Effect::chat(chat, ChatEffect::Notify(Notice::NothingToEdit))];
    assert_eq!(hand.tell(ChatEvent::LastMessageTaken), nothing);
    hand.tell(ChatEvent::MessageGiven {
        role: Role::User,
        content: "context".into(),
        visible: false,
        attachments: vec![],
    });
    assert_eq!(hand.tell(ChatEvent::LastMessageTaken), nothing, "what the user does not see is not theirs");
    let effects = hand.calls("100*50", &[("c1", "calculator", Ok(json!({"num1": 100})))]);
    assert_eq!(
        hand.tell(ChatEvent::LastMessageTaken),
        vec![Effect::chat(chat, ChatEffect::Notify(Notice::StillRunning))]
    );
    hand.finish(prepared(&effects)[0], "5000");
    hand.tell(ChatEvent::Stopped);
    assert_eq!(
        hand.tell(ChatEvent::LastMessageTaken),
        vec![Effect::chat(chat, ChatEffect::TruncateHistory { kept: 1 })]
    );
    assert_eq!(hand.engine.history(chat).map(|history| history.messages().len()), Some(1));
    assert_eq!(hand.tell(ChatEvent::LastMessageTaken), nothing);
}
