//! Calls at the gate: facts, approvals, the judge.

use std::sync::Arc;

use serde_json::json;

use super::hand::*;
use crate::engine::effect::{CallEffect, ChatEffect, Effect, LogLevel, Notice, TurnEnd};
use crate::engine::event::{Answer, CallEvent, ChatEvent, ChatSettings, Event};
use crate::gate::approvals::{Approval, Scope};
use crate::gate::judge::Judged;
use crate::gate::verdict::{Cause, Doubt, Question};
use crate::gate::{Fact, Found};
use crate::tool::{Defined, OwnApproval, Runner};

#[test]
fn r153_the_third_equal_call_asks_and_auto_answers_do_not_stick() {
    let mut hand = Hand::new();
    let mut effects = hand.calls("read", &[("r1", "calculator", Ok(json!({"path": "a", "n": 1})))]);
    for round in 1..=4 {
        let call = prepared(&effects)[0];
        let defines = Defined { success: true, ..Defined::default() };
        let preparation = preparation(1, defines, OwnApproval::Run, None);
        effects = hand.tell_call(call, CallEvent::Prepared(preparation));
        if round >= 3 {
            let question = Question::once(Cause::DoomLoop, Scope::Chat);
            assert_eq!(asks(&effects), Some((question, 0)), "round {round}");
            hand.tell_call(call, CallEvent::Answered(Answer::Always { pattern: None }));
        } else {
            assert_eq!(asks(&effects), None, "round {round}");
        }
        effects = hand.succeed(call, "text");
        // The order of the keys does not make another call of it.
        let again = if round % 2 == 0 { json!({"path": "a", "n": 1}) } else { json!({"n": 1, "path": "a"}) };
        effects = hand.answer(&effects, &[("r", "calculator", Ok(again))]);
    }
}

#[test]
fn r153_a_call_that_cannot_run_is_not_repeated_for_ever() {
    let mut hand = Hand::new();
    let mut effects = hand.calls("read", &[("r1", "calculator", Err(cut_off()))]);
    assert!(sends(&effects));
    effects = hand.answer(&effects, &[("r2", "calculator", Err(cut_off()))]);
    assert!(sends(&effects));
    effects = hand.answer(&effects, &[("r3", "calculator", Err(cut_off()))]);
    assert!(!sends(&effects));
    assert_eq!(ended(&effects), Some(TurnEnd::Held));
    assert!(
        effects
            .contains(&Effect::chat(hand.chat, ChatEffect::Notify(Notice::RepeatedCall { name: "calculator".into() })))
    );
}

#[test]
fn a_judge_that_never_answers_counts_as_ask_after_30_s_and_the_question_says_so() {
    let (mut hand, call, effects) = guarded();
    let chat = hand.chat;
    assert_eq!(effects, vec![Effect::call(chat, call, CallEffect::AskJudge)]);
    assert_eq!(hand.engine.next_deadline_ms(), Some(30_000));
    hand.now_ms = 29_999;
    assert_eq!(hand.say(Event::TimePassed), vec![]);
    hand.now_ms = 30_000;
    let judged = Some(Judged::Failed("no answer in 30 s".into()));
    let need = Effect::call(chat, call, CallEffect::FindFact { fact: Fact::CmdString });
    assert_eq!(hand.say(Event::TimePassed), vec![Effect::call(chat, call, CallEffect::EndJudge { judged }), need]);
    let late = hand.fact(call, Found::Judge(Judged::Safe("late".into())));
    assert!(matches!(late[..], [Effect::Log { level: LogLevel::Debug, .. }]), "{late:?}");
    let effects = hand.fact(call, Found::CmdString("rm x".into()));
    let remember = vec![Approval::new("calculator", Some("rm x".into()))];
    let doubt = Doubt::Judge(Judged::Failed("no answer in 30 s".into()));
    let question = Question { remember, ..Question::once(Cause::AutoMode(doubt), Scope::Chat) };
    assert_eq!(asks(&effects), Some((question, 1)));
    // What is late now says nothing about the open question either.
    let late = hand.fact(call, Found::Judge(Judged::Safe("late".into())));
    assert!(matches!(late[..], [Effect::Log { level: LogLevel::Debug, .. }]), "{late:?}");
    assert_eq!(hand.engine.next_deadline_ms(), None, "a question has no limit");
    hand.now_ms = 90_000;
    hand.tell_call(call, CallEvent::Answered(Answer::Accept));
    assert_eq!(hand.engine.next_deadline_ms(), Some(91_000), "neither the judge's time nor the user's is the tool's");
}

#[test]
fn a_stop_while_the_judge_thinks_ends_that_and_its_answer_runs_nothing() {
    let (mut hand, call, _) = guarded();
    let chat = hand.chat;
    let effects = hand.tell(ChatEvent::Stopped);
    assert_eq!(effects[0], Effect::call(chat, call, CallEffect::EndJudge { judged: None }));
    let effects = hand.fact(call, Found::Judge(Judged::Safe("late".into())));
    assert!(
        !effects.iter().any(|effect| matches!(
            effect,
            Effect::Addressed { effect: ChatEffect::Call { effect: CallEffect::RunCmd { .. }, .. }, .. }
        )),
        "{effects:?}"
    );
}

#[test]
fn a_verdict_counts_only_while_auto_mode_is_on() {
    for auto in [true, false] {
        let (mut hand, call, _) = guarded();
        let chat = hand.chat;
        assert_eq!(hand.tell(ChatEvent::AutoSet { auto }), vec![]);
        let judged = Judged::Safe("reads".into());
        let effects = hand.fact(call, Found::Judge(judged.clone()));
        let next = if auto {
            Effect::call(chat, call, CallEffect::RunCmd { cmd: 0, runner: Runner::Lua, arguments: None })
        } else {
            Effect::call(chat, call, CallEffect::FindFact { fact: Fact::CmdString })
        };
        assert_eq!(effects, vec![Effect::call(chat, call, CallEffect::EndJudge { judged: Some(judged) }), next]);
    }
}

#[test]
fn r016_an_approval_that_is_taken_back_asks_again() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let mut effects = hand.calls("x", &[("c", "calculator", Ok(json!({"n": 1})))]);
    for (round, expected) in [(1, true), (2, false), (3, true)] {
        let call = prepared(&effects)[0];
        let defines = Defined { success: true, ..Defined::default() };
        let preparation = preparation(1, defines, OwnApproval::Ask, None);
        effects = hand.tell_call(call, CallEvent::Prepared(preparation));
        assert_eq!(asks(&effects), expected.then(|| (own_question("calculator"), 0)), "round {round}");
        if expected {
            hand.tell_call(call, CallEvent::Answered(Answer::Always { pattern: None }));
        }
        effects = hand.succeed(call, "text");
        effects = hand.answer(&effects, &[("c", "calculator", Ok(json!({"n": round + 1})))]);
        if round == 2 {
            let approval = Approval::new("calculator", None);
            assert_eq!(hand.engine.approvals(), vec![(chat, approval.clone(), 0)]);
            hand.tell(ChatEvent::ApprovalForgotten(approval));
            assert_eq!(hand.engine.approvals(), vec![]);
        }
    }
}

#[test]
fn approval_given_by_code_counts_like_an_answer() {
    let mut hand = Hand::new();
    let approval = Approval::new("calculator", None);
    hand.tell(ChatEvent::ApprovalGiven(approval.clone()));
    assert_eq!(hand.engine.approvals(), vec![(hand.chat, approval, 0)]);
    let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
    let call = prepared(&effects)[0];
    let effects = hand.tell_call(call, CallEvent::Prepared(preparation(1, ALL, OwnApproval::Ask, None)));
    assert_eq!(asks(&effects), None);
}

#[test]
fn approvals_for_a_project_are_saved_and_looked_up_there_and_nowhere_else() {
    let project: Arc<str> = Arc::from("/project");
    let mut hand = Hand::with(ChatSettings { project: Some(Arc::clone(&project)), ..ChatSettings::default() });
    let chat = hand.chat;
    let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
    let call = prepared(&effects)[0];
    let preparation = preparation(1, Defined::default(), OwnApproval::Ask, None);
    let approval = Approval::new("calculator", None);
    let look_up = Effect::call(
        chat,
        call,
        CallEffect::FindSaved { project: Arc::clone(&project), approvals: vec![approval.clone()] },
    );
    assert_eq!(hand.tell_call(call, CallEvent::Prepared(preparation)), vec![look_up]);
    let effects = hand.fact(call, Found::Saved(false));
    let question = Question { remember: vec![approval.clone()], scope: Scope::Project, ..own_question("calculator") };
    assert_eq!(asks(&effects), Some((question, 0)));
    let effects = hand.tell_call(call, CallEvent::Answered(Answer::Always { pattern: None }));
    assert!(effects.contains(&Effect::SaveApproval { project, approval }), "{effects:?}");
    assert_eq!(hand.engine.approvals(), vec![]);
}
