//! Calls in a row that share their handlers.

use serde_json::json;

use super::hand::*;
use crate::engine::effect::{Effect, KillReason, Output, TurnEnd};
use crate::engine::event::{Answer, Event, OutputOutcome};
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
        effects = hand.say(Event::CallPrepared { chat, call, preparation });
        if round == 0 {
            assert_eq!(asks(&effects).map(|(_, rest)| rest), Some(3));
            hand.say(Event::ApprovalAnswered { chat, call, answer: Answer::Accept });
        } else {
            assert_eq!(asks(&effects), None, "the yes is for all of them");
        }
        effects = hand.succeed(call, "edited");
        let exit = Effect::RunExit { chat, call, shared: true };
        assert_eq!(effects.contains(&exit), round == 2, "round {round}: {effects:?}");
        if round == 2 {
            assert!(sends(&hand.say(Event::ExitFinished { chat, call })));
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
    hand.say(Event::CallPrepared {
        chat,
        call,
        preparation: preparation(1, Defined { on_exit: true, ..Defined::default() }, OwnApproval::Run, None),
    });
    hand.say(Event::CommandStarted { chat, call, cmd: 0 });
    let effects = hand.say(Event::ChatStopped { chat });
    assert_eq!(effects, vec![Effect::KillJobs { chat, call, why: KillReason::User }]);
    let effects = hand.say(Event::CommandFinished { chat, call, cmd: 0, succeeded: false, text: "half".into() });
    let last = CallId(call.0 + 1);
    assert!(effects.contains(&Effect::RunOutput { chat, call: last, output: Output::Cancelled }), "{effects:?}");
    let effects = hand.say(Event::OutputFinished { chat, call: last, outcome: OutputOutcome::Undefined });
    assert_eq!(effects, vec![Effect::RunExit { chat, call: last, shared: true }]);
    assert_eq!(ended(&hand.say(Event::ExitFinished { chat, call: last })), Some(TurnEnd::Stopped));
}
