//! Written conversations: calls and their results.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;

use super::hand::*;
use crate::adapter::Item;
use crate::engine::effect::{CallEffect, ChatEffect, Effect, Notice, Output, TurnEnd};
use crate::engine::event::{Answer, CallEvent, ChatEvent, OutputOutcome, RequestEvent};
use crate::engine::outcome::Outcome;
use crate::message::{Call, Message};
use crate::tool::{ArgumentsError, CallStatus, CheckedCall, Copying, Defined, OwnApproval};

#[test]
fn a_call_runs_and_its_result_goes_back() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let effects = hand.calls("100*50", &[("c1", "calculator", Ok(json!({"num1": 100})))]);
    let call = prepared(&effects)[0];
    assert_eq!(
        effects,
        vec![
            Effect::chat(
                chat,
                ChatEffect::AddMessage {
                    message: Arc::new(Message::Llm {
                        content: String::new(),
                        reasoning: String::new(),
                        calls: vec![Call {
                            wire_id: "c1".into(),
                            name: "calculator".into(),
                            arguments: "{\"num1\":100}".into(),
                            extra: None,
                        }],
                        opaque: None,
                    })
                }
            ),
            Effect::call(
                chat,
                call,
                CallEffect::AddCall {
                    wire_id: "c1".into(),
                    name: "calculator".into(),
                    arguments: "{\"num1\":100}".into(),
                    runs: None
                }
            ),
            Effect::chat(chat, ChatEffect::StartBatch { calls: 1 }),
            Effect::call(
                chat,
                call,
                CallEffect::PrepareCall { arguments: json!({"num1": 100}), copying: Copying::Own }
            ),
        ]
    );
    let effects = hand.finish(call, "5000");
    let message =
        Arc::new(Message::Tool { wire_id: "c1".into(), content: "5000".into(), is_error: false, attachments: vec![] });
    assert_eq!(
        effects[0],
        Effect::call(
            chat,
            call,
            CallEffect::FinishCall {
                outcome: Box::new(Outcome::new(CallStatus::Success)),
                changes: vec![],
                duration_ms: 0,
                message
            }
        )
    );
    assert!(sends(&effects));
    assert_eq!(hand.results(), vec![("c1".into(), "5000".into(), false)]);
}

#[test]
fn r026_cancel_at_the_question_answers_every_queued_call_and_sends_nothing() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let arguments = || Ok(json!({"cmd": "ls"}));
    let effects = hand
        .calls("ls", &[("c1", "calculator", arguments()), ("c2", "grep", arguments()), ("c3", "glob", arguments())]);
    let call = prepared(&effects)[0];
    let effects = hand.tell_call(
        call,
        CallEvent::Prepared(preparation(1, Defined { on_exit: true, ..Defined::default() }, OwnApproval::Ask, None)),
    );
    assert_eq!(asks(&effects), Some((own_question("calculator"), 2)));
    let effects = hand.tell_call(call, CallEvent::Answered(Answer::Cancel));
    assert!(effects.contains(&Effect::call(chat, call, CallEffect::RunExit { shared: false })));
    let mut effects = hand.tell_call(call, CallEvent::ExitFinished);
    for _ in 0..2 {
        let queued = effects.iter().find_map(|effect| match effect {
            Effect::Addressed {
                effect: ChatEffect::Call { call, effect: CallEffect::RunOutput { output: Output::Cancelled, .. } },
                ..
            } => Some(*call),
            _ => None,
        });
        let call = queued.expect("a queued call is cancelled through its output function");
        effects = hand.tell_call(call, CallEvent::OutputFinished(OutputOutcome::Undefined));
    }
    assert_eq!(ended(&effects), Some(TurnEnd::Cancelled));
    let cancelled = |id: &str, name: &str| (id.into(), format!("The user cancelled the {name} tool"), false);
    assert_eq!(hand.results(), vec![cancelled("c1", "calculator"), cancelled("c2", "grep"), cancelled("c3", "glob")]);
    hand.tell(ChatEvent::Submitted);
    assert!(sends(&hand.tell(ChatEvent::InputTaken { text: Some("hi".into()), typed: None })));
}

#[test]
fn r028_a_call_with_cut_off_arguments_leaves_its_siblings_alone() {
    let mut hand = Hand::new();
    let effects = hand.calls(
        "read",
        &[
            ("c1", "calculator", Ok(json!({"path": "a"}))),
            ("c2", "calculator", Err(cut_off())),
            ("c3", "calculator", Ok(json!({"path": "b"}))),
        ],
    );
    let effects = hand.finish(prepared(&effects)[0], "a");
    let effects = hand.finish(prepared(&effects)[0], "b");
    assert!(sends(&effects));
    assert_eq!(
        hand.results(),
        vec![
            ("c1".into(), "a".into(), false),
            ("c2".into(), "incomplete".into(), true),
            ("c3".into(), "b".into(), false)
        ]
    );
    let history = hand.engine.history(hand.chat).expect("the chat is there").messages();
    let Message::Llm { calls, .. } = history[1].as_ref() else { panic!("the second message is the model's") };
    let texts: Vec<_> = calls.iter().map(|call| call.arguments.as_str()).collect();
    assert_eq!(texts, ["{\"path\":\"a\"}", "{}", "{\"path\":\"b\"}"]);
}

#[test]
fn arguments_that_nobody_looked_at_do_not_go_back_to_the_provider() {
    let mut hand = Hand::new();
    let effects = hand.calls("read", &[("c1", "calculator", Err(ArgumentsError::NotChecked("a fault".into())))]);
    assert!(sends(&effects));
    assert_eq!(hand.results(), vec![("c1".into(), "a fault".into(), true)]);
    let history = hand.engine.history(hand.chat).expect("the chat is there").messages();
    let Message::Llm { calls, .. } = history[1].as_ref() else { panic!("the second message is the model's") };
    assert_eq!(calls[0].arguments, "{}");
}

#[test]
fn r030_an_unknown_tool_is_answered_with_the_names_that_exist() {
    let mut hand = Hand::new();
    let effects = hand.calls("x", &[("c9", "no_such_tool", Ok(json!({})))]);
    assert!(sends(&effects));
    assert_eq!(
        hand.results(),
        vec![(
            "c9".into(),
            "Tool \"no_such_tool\" not found. Available tools: `calculator`, `glob`, `grep`, `edit`".into(),
            true
        )]
    );
}

#[test]
fn no_result_repeats_a_long_name_of_an_unknown_tool() {
    let long = "x".repeat(1_000_000);
    let mut hand = Hand::new();
    let calls = [("a", "calculator", Ok(json!({}))), ("b", long.as_str(), Ok(json!({})))];
    let effects = hand.calls("x", &calls);
    let call = prepared(&effects)[0];
    let effects = hand.tell_call(call, CallEvent::Prepared(preparation(1, Defined::default(), OwnApproval::Ask, None)));
    assert!(asks(&effects).is_some());
    let effects = hand.tell_call(call, CallEvent::Answered(Answer::Cancel));
    let call = effects.iter().find_map(|effect| match effect {
        Effect::Addressed { effect: ChatEffect::Call { call, effect: CallEffect::RunOutput { .. } }, .. } => {
            Some(*call)
        }
        _ => None,
    });
    let call = call.expect("its own words for a cancel are asked for");
    hand.tell_call(call, CallEvent::OutputFinished(OutputOutcome::Undefined));
    assert_eq!(hand.results()[1].1, format!("The user cancelled the {}… tool", "x".repeat(100)));

    let mut hand = Hand::new();
    let mut effects = hand.calls("x", &[("a", long.as_str(), Ok(json!({})))]);
    for id in ["b", "c"] {
        effects = hand.answer(&effects, &[(id, long.as_str(), Ok(json!({})))]);
    }
    assert!(hand.results().iter().all(|(_, content, _)| content.len() < 300));
    let name = format!("{}…", "x".repeat(100));
    assert!(effects.contains(&Effect::chat(hand.chat, ChatEffect::Notify(Notice::RepeatedCall { name }))));
}

#[test]
fn r034_parallel_results_stay_in_call_order_whatever_finishes_first() {
    let mut hand = Hand::new();
    let arguments = |pattern: &str| Ok(json!({"pattern": pattern}));
    let effects = hand.calls(
        "glob",
        &[("g1", "glob", arguments("*.a")), ("g2", "glob", arguments("*.b")), ("g3", "glob", arguments("*.c"))],
    );
    let mut calls = prepared(&effects);
    let defines = Defined { success: true, ..Defined::default() };
    for at in 0..3 {
        let call = calls[at];
        let preparation = preparation(1, defines, OwnApproval::Run, None);
        let effects = hand.tell_call(call, CallEvent::Prepared(preparation));
        calls.extend(prepared(&effects));
    }
    for at in [2, 0, 1] {
        hand.succeed(calls[at], &format!("result {}", at + 1));
    }
    assert_eq!(
        hand.results(),
        vec![
            ("g1".into(), "result 1".into(), false),
            ("g2".into(), "result 2".into(), false),
            ("g3".into(), "result 3".into(), false)
        ]
    );
}

#[test]
fn r036_an_output_function_that_throws_gives_one_error_result() {
    let mut hand = Hand::new();
    let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
    let call = prepared(&effects)[0];
    hand.tell_call(call, CallEvent::Prepared(preparation(2, ALL, OwnApproval::Run, None)));
    hand.tell_call(call, CallEvent::CmdFinished { cmd: 0, succeeded: true });
    hand.tell_call(call, CallEvent::OutputFinished(OutputOutcome::Threw("boom".into())));
    assert!(sends(&hand.tell_call(call, CallEvent::ExitFinished)));
    let said = "An output function of the tool `calculator` failed: boom";
    assert_eq!(hand.results(), vec![("c1".into(), said.into(), true)]);
}

#[test]
fn r041_empty_arguments_go_back_as_an_object() {
    for text in ["", "  ", "[]"] {
        let mut hand = Hand::new();
        hand.tell(ChatEvent::Submitted);
        let effects = hand.tell(ChatEvent::InputTaken { text: Some("list".into()), typed: None });
        let request = request_of(&effects);
        hand.tell_request(request, RequestEvent::Started { tools: Arc::from([tool("list_buffers", false)]) });
        let items = vec![
            Item::CallStarted { index: 0, wire_id: "c1".into(), name: "list_buffers".into() },
            Item::CallArguments { index: 0, text: text.into() },
        ];
        hand.tell_request(request, RequestEvent::Items(items));
        let effects = hand.tell_request(request, RequestEvent::Finished);
        let Some(Effect::Addressed { effect: ChatEffect::CheckCalls { calls, .. }, .. }) = effects.last() else {
            panic!("calls are checked")
        };
        let calls = vec![CheckedCall::new(calls[0].call, Ok(json!({})))];
        let effects = hand.tell(ChatEvent::CallsChecked(calls));
        assert!(effects.iter().any(|e| matches!(e, Effect::Addressed { effect: ChatEffect::Call { effect: CallEffect::AddCall { arguments, .. }, .. }, .. } if arguments == "{}")));
    }
}

#[test]
fn calls_without_id_or_with_a_used_one_get_their_own() {
    let mut hand = Hand::new();
    let arguments = || Ok(json!({}));
    let effects = hand.calls("x", &[("c", "grep", arguments()), ("c", "grep", arguments()), ("", "grep", arguments())]);
    let ids: BTreeSet<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Addressed {
                effect: ChatEffect::Call { effect: CallEffect::AddCall { wire_id, .. }, .. }, ..
            } => Some(wire_id.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(ids.len(), 3);
    assert!(ids.contains("c") && !ids.contains(""));
}

#[test]
fn what_commands_printed_is_told_where_no_output_function_speaks() {
    enum Ran {
        Command(bool, &'static str),
        Function(bool),
    }
    use Ran::{Command, Function};
    let speaks = Defined { success: true, error: true, ..Defined::default() };
    for (ran, defines, said) in [
        (vec![Command(true, "one"), Command(true, "two")], Defined::default(), "Executed calculator\n\none\n\ntwo"),
        (
            vec![Command(true, "one"), Command(false, "code 3")],
            Defined::default(),
            "Error calling calculator\n\ncode 3",
        ),
        (vec![Command(true, "one"), Function(true)], Defined::default(), "Executed calculator"),
        (vec![Function(true), Command(true, "two")], Defined::default(), "Executed calculator\n\ntwo"),
        (vec![Command(true, "one"), Function(false)], Defined::default(), "Error calling calculator"),
        (vec![Command(false, "code 3")], speaks, "said by the tool"),
    ] {
        let mut hand = Hand::new();
        let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
        let call = prepared(&effects)[0];
        let preparation = preparation(ran.len(), defines, OwnApproval::Run, None);
        hand.tell_call(call, CallEvent::Prepared(preparation));
        for (cmd, ran) in ran.into_iter().enumerate() {
            match ran {
                Function(succeeded) => drop(hand.tell_call(call, CallEvent::CmdFinished { cmd, succeeded })),
                Command(succeeded, text) => {
                    hand.tell_call(call, CallEvent::CommandStarted { cmd });
                    hand.tell_call(call, CallEvent::CommandFinished { cmd, succeeded, report: report(text) });
                }
            }
        }
        if defines.error {
            hand.tell_call(call, CallEvent::OutputAdded { content: "said by the tool".into() });
            hand.tell_call(call, CallEvent::OutputFinished(OutputOutcome::Ran));
        }
        assert_eq!(hand.results()[0].1, said);
    }
}
