//! Written conversations: what ends a call besides itself, and what is told of it then.

use serde_json::json;

use super::hand::*;
use crate::engine::effect::{CallEffect, ChatEffect, Effect, KillReason, LogLevel, Output, TurnEnd};
use crate::engine::event::{Answer, CallEvent, ChatEvent, ChatSettings, Event, OutputOutcome, Report};
use crate::output::{Keep, Limits};
use crate::tool::{CallId, Defined, KeptMedia, OwnApproval};

#[test]
fn r071_a_call_that_never_answers_ends_at_its_limit_and_the_clock_stands_still_in_questions() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({}))), ("c2", "calculator", Ok(json!({"n": 2})))]);
    let call = prepared(&effects)[0];
    let preparation = preparation(1, Defined::default(), OwnApproval::Ask, Some(1_000));
    hand.tell_call(call, CallEvent::Prepared(preparation));
    assert_eq!(hand.engine.next_deadline_ms(), None);
    hand.now_ms = 50_000;
    hand.tell_call(call, CallEvent::Answered(Answer::Accept));
    assert_eq!(hand.engine.next_deadline_ms(), Some(51_000));
    hand.now_ms = 50_999;
    assert_eq!(hand.say(Event::TimePassed), vec![]);
    hand.now_ms = 51_000;
    let effects = hand.say(Event::TimePassed);
    assert_eq!(
        effects[0],
        Effect::call(chat, call, CallEffect::KillJobs { why: KillReason::TimedOut { limit_ms: 1_000 } })
    );
    assert_eq!(prepared(&effects).len(), 1, "the queue goes on");
    assert_eq!(
        hand.results(),
        vec![("c1".into(), "Error calling calculator: it timed out after 1000 ms".into(), true)]
    );
    let late = hand.tell_call(call, CallEvent::CmdFinished { cmd: 0, succeeded: true });
    assert!(matches!(late[..], [Effect::Log { .. }]));
}

#[test]
fn r082_skip_ends_only_the_running_call() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({}))), ("c2", "calculator", Ok(json!({"n": 2})))]);
    let call = prepared(&effects)[0];
    hand.tell_call(call, CallEvent::Prepared(preparation(1, ALL, OwnApproval::Run, None)));
    let effects = hand.tell(ChatEvent::CallSkipped);
    assert_eq!(
        effects,
        vec![
            Effect::call(chat, call, CallEffect::KillJobs { why: KillReason::User }),
            Effect::call(chat, call, CallEffect::RunExit { shared: false })
        ]
    );
    let effects = hand.tell_call(call, CallEvent::ExitFinished);
    let effects = hand.finish(prepared(&effects)[0], "second");
    assert!(sends(&effects));
    assert_eq!(hand.results()[0].1, "Stopped by the user before the calculator tool was done");
    assert_eq!(hand.results()[1].1, "second");
}

#[test]
fn r078_what_a_stopped_command_printed_is_in_the_result_whatever_ends_it() {
    for (event, said) in [
        ("skip", "It was ended: half"),
        ("stop", "cancelled by its own words\n\nIt was ended: half"),
        ("clock", "Error calling calculator\n\nIt was ended: half"),
    ] {
        let mut hand = Hand::new();
        let chat = hand.chat;
        let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
        let call = prepared(&effects)[0];
        let defines = Defined { cancelled: true, ..Defined::default() };
        let preparation = preparation(1, defines, OwnApproval::Run, Some(500));
        hand.tell_call(call, CallEvent::Prepared(preparation));
        hand.tell_call(call, CallEvent::CommandStarted { cmd: 0 });
        let effects = match event {
            "skip" => hand.tell(ChatEvent::CallSkipped),
            "stop" => hand.tell(ChatEvent::Stopped),
            _ => {
                hand.now_ms = 500;
                hand.say(Event::TimePassed)
            }
        };
        let why = if event == "clock" { KillReason::TimedOut { limit_ms: 500 } } else { KillReason::User };
        assert_eq!(effects, vec![Effect::call(chat, call, CallEffect::KillJobs { why })]);
        let files = vec!["/tmp/whole".into()];
        let report = Report { text: "It was ended: half".into(), printed: "half".into(), files };
        let mut effects = hand.tell_call(call, CallEvent::CommandFinished { cmd: 0, succeeded: false, report });
        if effects.contains(&Effect::call(chat, call, CallEffect::RunOutput { output: Output::Cancelled })) {
            hand.tell_call(call, CallEvent::OutputAdded { content: "cancelled by its own words".into() });
            effects = hand.tell_call(call, CallEvent::OutputFinished(OutputOutcome::Ran));
        }
        assert_eq!(hand.results()[0].1, said, "{event}");
        let printed = outcomes(&effects).into_iter().map(|outcome| (outcome.printed, outcome.files));
        let expected = (Some("half".to_owned()), vec!["/tmp/whole".into()]);
        assert_eq!(printed.collect::<Vec<_>>(), [expected], "the user is shown this alone");
    }
}

#[test]
fn stop_during_setup_still_runs_on_exit() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
    let call = prepared(&effects)[0];
    assert_eq!(hand.tell(ChatEvent::Stopped), vec![]);
    let effects = hand.tell_call(call, CallEvent::Prepared(preparation(1, ALL, OwnApproval::Run, None)));
    assert_eq!(effects, vec![Effect::call(chat, call, CallEffect::RunOutput { output: Output::Cancelled })]);
    let effects = hand.tell_call(call, CallEvent::OutputFinished(OutputOutcome::Ran));
    assert_eq!(effects, vec![Effect::call(chat, call, CallEffect::RunExit { shared: false })]);
    assert_eq!(ended(&hand.tell_call(call, CallEvent::ExitFinished)), Some(TurnEnd::Stopped));
}

#[test]
fn p70_a_result_over_the_limits_is_cut_before_it_joins_the_history() {
    let limits = Limits { max_lines: 3, max_bytes: 10, ..Limits::new(Keep::Head) };
    let mut hand = Hand::with(ChatSettings { limits: limits.clone(), ..ChatSettings::default() });
    let effects = hand.calls(
        "x",
        &[
            ("c1", "glob", Ok(json!({"n": 1}))),
            ("c2", "glob", Ok(json!({"n": 2}))),
            ("c3", "glob", Ok(json!({"n": 3}))),
            ("c4", "glob", Ok(json!({"n": 4}))),
        ],
    );
    let chat = hand.chat;
    let first = prepared(&effects)[0];
    let [second, third, fourth] = [1, 2, 3].map(|after| CallId(first.0 + after));
    let effects = hand.finish(first, "12345\n7890a");
    let content = "12345\n7890a".to_owned();
    assert!(
        effects.contains(&Effect::call(chat, first, CallEffect::Shorten { content, limits, media: vec![] })),
        "{effects:?}"
    );
    // Each is prepared as soon as the one before is decided.
    hand.finish(second, "12345\n7890");
    assert_eq!(hand.results(), [], "exactly at the limit is not cut, and waits for the one before");
    let effects = hand.finish(third, "1\n2\n3\n");
    assert!(
        effects.iter().any(|effect| matches!(
            effect,
            Effect::Addressed { effect: ChatEffect::Call { effect: CallEffect::Shorten { .. }, .. }, .. }
        )),
        "four lines"
    );
    // A stop while it is cut loses nothing of it.
    let late = Event::call(chat, third, CallEvent::OutputAdded { content: "late".into() });
    assert!(matches!(hand.say(late)[..], [Effect::Log { level: LogLevel::Debug, .. }]));
    hand.tell(ChatEvent::Stopped);
    hand.tell_call(third, CallEvent::Shortened { content: "cut 3".into(), file: None, media: KeptMedia::default() });
    assert_eq!(hand.results(), []);
    let effects = hand.tell_call(
        first,
        CallEvent::Shortened { content: "cut 1".into(), file: Some("/tmp/1".into()), media: KeptMedia::default() },
    );
    assert_eq!(outcomes(&effects)[0].files, [std::path::PathBuf::from("/tmp/1")]);
    let texts: Vec<_> = hand.results().into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(texts, ["cut 1", "12345\n7890", "cut 3"]);
    assert_eq!(ended(&effects), None, "the fourth is still being prepared");
    let ready = preparation(0, Defined::default(), OwnApproval::Run, None);
    hand.tell_call(fourth, CallEvent::Prepared(ready));
    let effects = hand
        .tell_call(fourth, CallEvent::Shortened { content: "cut 4".into(), file: None, media: KeptMedia::default() });
    assert_eq!(ended(&effects), Some(TurnEnd::Stopped));
}

#[test]
fn success_without_a_result_is_no_error() {
    let mut hand = Hand::new();
    let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
    let call = prepared(&effects)[0];
    let defines = Defined { success: true, ..Defined::default() };
    hand.tell_call(call, CallEvent::Prepared(preparation(1, defines, OwnApproval::Run, None)));
    hand.tell_call(call, CallEvent::CmdFinished { cmd: 0, succeeded: true });
    hand.tell_call(call, CallEvent::OutputFinished(OutputOutcome::Ran));
    let said = "The call of the calculator tool did not complete: the tool gave no result";
    assert_eq!(hand.results(), vec![("c1".into(), said.into(), false)]);
}

#[test]
fn reason_of_a_refusal_follows_the_error_of_rejected() {
    let mut hand = Hand::new();
    let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
    let call = prepared(&effects)[0];
    let defines = Defined { rejected: true, ..Defined::default() };
    hand.tell_call(call, CallEvent::Prepared(preparation(1, defines, OwnApproval::Ask, None)));
    hand.tell_call(call, CallEvent::Answered(Answer::Reject { reason: Some("wrong branch".into()) }));
    hand.tell_call(call, CallEvent::OutputFinished(OutputOutcome::Threw("boom".into())));
    let said = "An output function of the tool `calculator` failed: boom\n\n\
                The user rejected the calculator tool: wrong branch";
    assert_eq!(hand.results()[0].1, said);
}
