//! Calls in a row that share their handlers.

use serde_json::json;

use super::hand::*;
use crate::engine::effect::{CallEffect, Effect, KillReason, Output, TurnEnd};
use crate::engine::event::{Answer, CallEvent, ChatEvent, OutputOutcome};
use crate::tool::{CallId, Copying, Defined, OwnApproval};

#[test]
fn calls_in_a_row_of_a_tool_with_use_handlers_once_share_copy_yes_and_exit() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let arguments = |n: u32| Ok(json!({"n": n}));
    let mut effects = hand.calls(
        "x",
        &[
            ("e1", "edit", arguments(1)),
            ("e2", "edit", Err(cut_off())),
            ("e3", "edit", arguments(3)),
            ("e4", "edit", arguments(4)),
        ],
    );
    let defines = Defined { success: true, on_exit: true, ..Defined::default() };
    for (round, expected) in [Copying::First, Copying::Shared, Copying::Shared].into_iter().enumerate() {
        let (call, found) = copying(&effects).expect("the next call is prepared");
        assert_eq!(found, expected);
        let preparation = preparation(1, defines, OwnApproval::Ask, None);
        effects = hand.tell_call(call, CallEvent::Prepared(preparation));
        if round == 0 {
            assert_eq!(asks(&effects).map(|(_, rest)| rest), Some(3));
            hand.tell_call(call, CallEvent::Answered(Answer::Accept));
        } else {
            assert_eq!(asks(&effects), None, "the yes is for all of them");
        }
        effects = hand.succeed(call, "edited");
        let exit = Effect::call(chat, call, CallEffect::RunExit { shared: true });
        assert_eq!(effects.contains(&exit), round == 2, "round {round}: {effects:?}");
        if round == 2 {
            assert!(sends(&hand.tell_call(call, CallEvent::ExitFinished)));
        }
    }
    assert_eq!(hand.results().len(), 4);
}

#[test]
fn the_exit_that_calls_share_waits_for_a_command_that_is_being_stopped() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let effects = hand.calls("x", &[("e1", "edit", Ok(json!({"n": 1}))), ("e2", "edit", Ok(json!({"n": 2})))]);
    let (call, _) = copying(&effects).expect("a call is prepared");
    hand.tell_call(
        call,
        CallEvent::Prepared(preparation(1, Defined { on_exit: true, ..Defined::default() }, OwnApproval::Run, None)),
    );
    hand.tell_call(call, CallEvent::CommandStarted { cmd: 0 });
    let effects = hand.tell(ChatEvent::Stopped);
    assert_eq!(effects, vec![Effect::call(chat, call, CallEffect::KillJobs { why: KillReason::User })]);
    let effects = hand.tell_call(call, CallEvent::CommandFinished { cmd: 0, succeeded: false, report: report("half") });
    let last = CallId(call.0 + 1);
    assert!(
        effects.contains(&Effect::call(chat, last, CallEffect::RunOutput { output: Output::Cancelled })),
        "{effects:?}"
    );
    let effects = hand.tell_call(last, CallEvent::OutputFinished(OutputOutcome::Undefined));
    assert_eq!(effects, vec![Effect::call(chat, last, CallEffect::RunExit { shared: true })]);
    assert_eq!(ended(&hand.tell_call(last, CallEvent::ExitFinished)), Some(TurnEnd::Stopped));
}
