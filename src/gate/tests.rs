//! The gate, step by step and with facts in any order.

use proptest::prelude::*;

use super::*;
use crate::tool::GateSettings;

const ALL: [Fact; 6] = [Fact::OwnApproval, Fact::CmdString, Fact::Saved, Fact::IsSafe, Fact::JudgeContext, Fact::Judge];

fn call(own: OwnApproval) -> GatedCall<'static> {
    GatedCall {
        tool: "run",
        settings: GateSettings::new(own),
        repeated: 1,
        auto: false,
        waived: false,
        scope: Scope::Chat,
    }
}

/// A call in auto mode of a tool with `require_cmd_approval`.
fn guarded() -> GatedCall<'static> {
    let mut call = call(OwnApproval::Ask);
    (call.auto, call.settings.by_command) = (true, true);
    call
}

fn approval(tool: &str, value: Option<&str>) -> Approval {
    Approval { tool: tool.to_owned(), value: value.map(str::to_owned) }
}

fn given(list: &[(&str, Option<&str>)]) -> Approvals {
    let mut approvals = Approvals::default();
    list.iter().for_each(|(tool, value)| approvals.remember(approval(tool, *value), 1));
    approvals
}

fn facts(list: &[Found]) -> Facts {
    let mut facts = Facts::default();
    list.iter().for_each(|found| facts.take(found.fact(), Some(found.clone())));
    facts
}

fn failed(list: &[Fact]) -> Facts {
    let mut facts = Facts::default();
    list.iter().for_each(|fact| facts.take(*fact, None));
    facts
}

fn asks(cause: Cause, note: Option<&str>, remember: Option<(Approval, Scope)>) -> Verdict {
    Verdict::Ask(Question { cause, note: note.map(str::to_owned), remember })
}

fn cmd(text: &str) -> Found {
    Found::CmdString(text.to_owned())
}

#[test]
fn own_setting_decides_when_nothing_else_does() {
    let whole = Some((approval("run", None), Scope::Chat));
    let t = |own, facts: &Facts| decide(&call(own), &Approvals::default(), facts);
    let none = Facts::default();
    assert_eq!(t(OwnApproval::Run, &none), Verdict::Allow);
    assert_eq!(t(OwnApproval::Ask, &none), asks(Cause::OwnApproval, None, whole.clone()));
    assert_eq!(t(OwnApproval::Function, &none), Verdict::Need(Fact::OwnApproval));
    let asking = facts(&[Found::OwnApproval(true)]);
    assert_eq!(t(OwnApproval::Function, &asking), asks(Cause::OwnApproval, None, whole.clone()));
    assert_eq!(t(OwnApproval::Function, &facts(&[Found::OwnApproval(false)])), Verdict::Allow);
    let note = Some("what decides whether to ask failed, see `:Lathe log`");
    assert_eq!(t(OwnApproval::Function, &failed(&[Fact::OwnApproval])), asks(Cause::OwnApproval, note, whole));
}

#[test]
fn r011_a_remembered_command_is_compared_letter_by_letter() {
    let mut call = call(OwnApproval::Ask);
    call.settings.by_command = true;
    let remembered = "sed -n 's/a*/b/p' f";
    let approvals = given(&[("run", Some(remembered))]);
    assert_eq!(decide(&call, &approvals, &Facts::default()), Verdict::Need(Fact::CmdString));
    assert_eq!(decide(&call, &approvals, &facts(&[cmd(remembered)])), Verdict::Allow);
    for other in ["sed -n 's/aX/b/w out; s/b/p' f", "sed -n 's/a*/b/p' f ", "SED -n 's/a*/b/p' f", "*", ""] {
        let remember = Some((approval("run", Some(other)), Scope::Chat));
        assert_eq!(decide(&call, &approvals, &facts(&[cmd(other)])), asks(Cause::OwnApproval, None, remember));
    }
}

#[test]
fn an_approval_of_a_tool_says_nothing_of_other_tools_or_of_its_single_commands() {
    let whole = given(&[("run", None)]);
    assert_eq!(decide(&call(OwnApproval::Ask), &whole, &Facts::default()), Verdict::Allow);
    let other = GatedCall { tool: "run2", ..call(OwnApproval::Ask) };
    assert_ne!(decide(&other, &whole, &Facts::default()), Verdict::Allow);
    let mut by_command = call(OwnApproval::Ask);
    by_command.settings.by_command = true;
    assert_ne!(decide(&by_command, &whole, &facts(&[cmd("ls")])), Verdict::Allow);
    let one = given(&[("run", Some("ls"))]);
    assert_ne!(decide(&call(OwnApproval::Ask), &one, &facts(&[cmd("ls")])), Verdict::Allow);
}

#[test]
fn a_command_that_is_unknown_or_too_long_is_asked_about_and_cannot_be_remembered() {
    let mut call = call(OwnApproval::Ask);
    call.settings.by_command = true;
    let approvals = given(&[("run", Some("ls"))]);
    assert_eq!(decide(&call, &approvals, &failed(&[Fact::CmdString])), asks(Cause::OwnApproval, None, None));
    let long = facts(&[cmd(&"x".repeat(MAX_VALUE_BYTES + 1))]);
    assert_eq!(decide(&call, &approvals, &long), asks(Cause::OwnApproval, None, None));
}

#[test]
fn approvals_of_the_project_are_looked_up_where_they_matter_and_nowhere_else() {
    let in_project = |own| GatedCall { scope: Scope::Project, ..call(own) };
    let none = Approvals::default();
    assert_eq!(decide(&in_project(OwnApproval::Run), &none, &Facts::default()), Verdict::Allow);
    let asking = in_project(OwnApproval::Ask);
    assert_eq!(decide(&asking, &none, &Facts::default()), Verdict::Need(Fact::Saved));
    assert_eq!(decide(&asking, &none, &facts(&[Found::Saved(true)])), Verdict::Allow);
    let question = asks(Cause::OwnApproval, None, Some((approval("run", None), Scope::Project)));
    assert_eq!(decide(&asking, &none, &facts(&[Found::Saved(false)])), question);
    assert_eq!(decide(&asking, &none, &failed(&[Fact::Saved])), question);
    // An answer that was meant for another chat's settings counts for nothing.
    assert_ne!(decide(&call(OwnApproval::Ask), &none, &facts(&[Found::Saved(true)])), Verdict::Allow);
    let mut by_command = asking;
    by_command.settings.by_command = true;
    assert_eq!(decide(&by_command, &none, &Facts::default()), Verdict::Need(Fact::CmdString));
    assert_eq!(decide(&by_command, &none, &facts(&[cmd("ls")])), Verdict::Need(Fact::Saved));
}

#[test]
fn r153_the_third_identical_call_asks_whatever_is_remembered() {
    for (repeated, expected) in [(1, false), (2, false), (3, true), (4, true)] {
        let call = GatedCall { repeated, auto: true, waived: true, ..call(OwnApproval::Run) };
        let verdict = decide(&call, &given(&[("run", None)]), &Facts::default());
        assert_eq!(verdict == asks(Cause::DoomLoop, None, None), expected, "{repeated}");
        assert_eq!(verdict == Verdict::Allow, !expected);
    }
}

#[test]
fn auto_mode_runs_everything_but_what_is_protected_or_guarded() {
    let t = |change: &dyn Fn(&mut GateSettings)| {
        let mut call = GatedCall { auto: true, ..call(OwnApproval::Ask) };
        change(&mut call.settings);
        decide(&call, &given(&[("run", None)]), &facts(&[cmd("ls")]))
    };
    assert_eq!(t(&|_| {}), Verdict::Allow);
    assert_eq!(t(&|gate| gate.protect = true), asks(Cause::Protected, None, None));
    let remember = Some((approval("run", Some("ls")), Scope::Chat));
    assert_eq!(t(&|gate| gate.by_command = true), asks(Cause::AutoMode, None, remember));
    let mut without = call(OwnApproval::Run);
    without.settings.protect = true;
    assert_eq!(decide(&without, &Approvals::default(), &Facts::default()), Verdict::Allow, "auto mode is off");
}

#[test]
fn is_safe_then_the_judge_let_a_guarded_call_run_in_auto_mode() {
    let mut call = guarded();
    (call.settings.is_safe, call.settings.judge) = (true, true);
    let none = Approvals::default();
    let t = |list: &[Found]| decide(&call, &none, &facts(list));
    let safe = |safe| Found::IsSafe(safe);
    let text = Found::JudgeContext(true);
    assert_eq!(t(&[]), Verdict::Need(Fact::IsSafe));
    assert_eq!(t(&[safe(true)]), Verdict::Allow);
    assert_eq!(t(&[safe(false)]), Verdict::Need(Fact::JudgeContext));
    assert_eq!(t(&[safe(false), text.clone()]), Verdict::Need(Fact::Judge));
    let judged = |judged| t(&[safe(false), text.clone(), Found::Judge(judged), cmd("rm x")]);
    let asked = |note| asks(Cause::AutoMode, note, Some((approval("run", Some("rm x")), Scope::Chat)));
    assert_eq!(judged(Judged::Safe("reads".into())), Verdict::Allow);
    assert_eq!(judged(Judged::Unsafe("deletes files".into())), asked(Some("judge: \"deletes files\"")));
    assert_eq!(judged(Judged::Failed("no key".into())), asked(Some("judge failed: no key")));
    assert_eq!(t(&[safe(false), Found::JudgeContext(false), cmd("rm x")]), asked(None));
    // A remembered command needs neither.
    assert_eq!(decide(&call, &given(&[("run", Some("rm x"))]), &facts(&[cmd("rm x")])), Verdict::Allow);
}

#[test]
fn a_gate_that_fails_asks_and_goes_no_further() {
    let mut call = guarded();
    (call.settings.is_safe, call.settings.judge) = (true, true);
    let none = Approvals::default();
    let asked = |list: &[Found], fails, note: &str| {
        let mut facts = facts(list);
        facts.take(fails, None);
        facts.take(Fact::CmdString, None);
        assert_eq!(decide(&call, &none, &facts), asks(Cause::AutoMode, Some(note), None), "{fails:?}");
    };
    asked(&[], Fact::IsSafe, "is_safe failed, see `:Lathe log`");
    asked(&[Found::IsSafe(false)], Fact::JudgeContext, "judge_context failed, see `:Lathe log`");
    asked(&[Found::IsSafe(false), Found::JudgeContext(true)], Fact::Judge, "judge failed: no answer in 30 s");
}

#[test]
fn an_answer_to_another_question_counts_as_none() {
    let mut facts = Facts::default();
    facts.take(Fact::OwnApproval, Some(Found::IsSafe(false)));
    assert_eq!(facts, failed(&[Fact::OwnApproval]));
}

#[test]
fn calls_in_a_run_skip_the_own_question_only_and_not_for_single_commands() {
    let waived = GatedCall { waived: true, ..call(OwnApproval::Ask) };
    assert_eq!(decide(&waived, &Approvals::default(), &Facts::default()), Verdict::Allow);
    let mut guarded = guarded();
    guarded.waived = true;
    assert_ne!(decide(&guarded, &Approvals::default(), &facts(&[cmd("ls")])), Verdict::Allow);
    let mut by_command = waived;
    by_command.settings.by_command = true;
    assert_ne!(decide(&by_command, &Approvals::default(), &facts(&[cmd("ls")])), Verdict::Allow);
    let protected = GatedCall { settings: GateSettings { protect: true, ..waived.settings }, auto: true, ..waived };
    assert_eq!(decide(&protected, &Approvals::default(), &Facts::default()), asks(Cause::Protected, None, None));
}

fn settings() -> impl Strategy<Value = GateSettings> {
    let own = prop_oneof![Just(OwnApproval::Run), Just(OwnApproval::Ask), Just(OwnApproval::Function)];
    (own, any::<[bool; 4]>()).prop_map(|(own, [protect, by_command, is_safe, judge])| GateSettings {
        own,
        protect,
        by_command,
        is_safe,
        judge,
    })
}

fn calls() -> impl Strategy<Value = GatedCall<'static>> {
    (settings(), 1..5u32, any::<[bool; 3]>()).prop_map(|(settings, repeated, [auto, waived, project])| GatedCall {
        tool: "run",
        settings,
        repeated,
        auto,
        waived,
        scope: if project { Scope::Project } else { Scope::Chat },
    })
}

fn found() -> impl Strategy<Value = Found> {
    prop_oneof![
        any::<bool>().prop_map(Found::OwnApproval),
        prop_oneof![Just("ls"), Just("rm x"), Just("*")].prop_map(cmd),
        any::<bool>().prop_map(Found::Saved),
        any::<bool>().prop_map(Found::IsSafe),
        any::<bool>().prop_map(Found::JudgeContext),
        prop_oneof![Just(Judged::Safe("s".into())), Just(Judged::Unsafe("u".into())), Just(Judged::Failed("f".into()))]
            .prop_map(Found::Judge),
    ]
}

/// What each fact is in one world; none: it cannot be found.
fn worlds() -> impl Strategy<Value = Vec<(Fact, Option<Found>)>> {
    prop::collection::vec(found(), 0..12).prop_map(|list| {
        let of = |fact: Fact| (fact, list.iter().find(|found| found.fact() == fact).cloned());
        ALL.into_iter().map(of).collect()
    })
}

fn remembered() -> impl Strategy<Value = Approvals> {
    any::<[bool; 3]>().prop_map(|[whole, one, other]| {
        let mut list = Vec::new();
        if whole {
            list.push(("run", None));
        }
        if one {
            list.push(("run", Some("ls")));
        }
        if other {
            list.push(("other", None));
        }
        given(&list)
    })
}

/// Finds each fact that is needed until it is decided. `early` facts are known before anybody asked.
fn settle(
    call: &GatedCall,
    approvals: &Approvals,
    world: &[(Fact, Option<Found>)],
    early: &[usize],
) -> (Verdict, Vec<Fact>) {
    let mut facts = Facts::default();
    for at in early {
        let (fact, found) = &world[at % world.len()];
        facts.take(*fact, found.clone());
    }
    let mut needed = Vec::new();
    loop {
        match decide(call, approvals, &facts) {
            Verdict::Need(fact) => {
                assert!(!needed.contains(&fact), "{fact:?} is looked for twice");
                needed.push(fact);
                let (_, found) = world.iter().find(|(known, _)| *known == fact).expect("every fact is in the world");
                facts.take(fact, found.clone());
            }
            verdict => return (verdict, needed),
        }
    }
}

fn lets_run(found: &[(Fact, Option<Found>)], fact: Fact) -> Option<&Found> {
    found.iter().find(|(known, _)| *known == fact).and_then(|(_, found)| found.as_ref())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn facts_known_early_change_nothing_and_each_is_looked_for_once(
        call in calls(), approvals in remembered(), world in worlds(), early in prop::collection::vec(0..6usize, 0..6),
    ) {
        let (verdict, _) = settle(&call, &approvals, &world, &[]);
        prop_assert_eq!(settle(&call, &approvals, &world, &early).0, verdict);
    }

    #[test]
    fn nothing_lifts_a_doom_loop_or_protect_in_auto_mode(
        call in calls(), approvals in remembered(), world in worlds(),
    ) {
        let (verdict, needed) = settle(&call, &approvals, &world, &[]);
        if call.repeated >= DOOM_LOOP {
            prop_assert_eq!(verdict, asks(Cause::DoomLoop, None, None));
            prop_assert_eq!(needed, vec![]);
        } else if call.auto && call.settings.protect {
            prop_assert_eq!(verdict, asks(Cause::Protected, None, None));
            prop_assert_eq!(needed, vec![]);
        } else {
            prop_assert!(matches!(verdict, Verdict::Allow | Verdict::Ask(_)));
        }
    }

    #[test]
    fn a_guarded_call_in_auto_mode_runs_only_with_a_reason(
        mut call in calls(), approvals in remembered(), world in worlds(),
    ) {
        (call.repeated, call.auto, call.settings.by_command, call.settings.protect) = (1, true, true, false);
        let (verdict, _) = settle(&call, &approvals, &world, &[]);
        let remembered = match lets_run(&world, Fact::CmdString) {
            Some(Found::CmdString(value)) => {
                approvals.cover(&approval("run", Some(value)))
                    || (call.scope == Scope::Project && lets_run(&world, Fact::Saved) == Some(&Found::Saved(true)))
            }
            _ => false,
        };
        let safety = lets_run(&world, Fact::IsSafe);
        let safe = call.settings.is_safe && safety == Some(&Found::IsSafe(true));
        let passed = !call.settings.is_safe || safety == Some(&Found::IsSafe(false));
        let judged = call.settings.judge && passed
            && lets_run(&world, Fact::JudgeContext) == Some(&Found::JudgeContext(true))
            && matches!(lets_run(&world, Fact::Judge), Some(Found::Judge(Judged::Safe(_))));
        prop_assert_eq!(verdict == Verdict::Allow, remembered || safe || judged);
    }

    #[test]
    fn what_always_accept_remembers_covers_the_call_and_only_it(
        call in calls(), approvals in remembered(), world in worlds(), other in prop_oneof![Just("ls"), Just("rm x"), Just("rm")],
    ) {
        let (verdict, _) = settle(&call, &approvals, &world, &[]);
        if let Verdict::Ask(Question { remember: Some((remember, scope)), cause, .. }) = verdict {
            prop_assert_eq!(scope, call.scope);
            prop_assert!(matches!(cause, Cause::AutoMode | Cause::OwnApproval));
            prop_assert_eq!(remember.value.is_some(), call.settings.by_command);
            let mut approvals = Approvals::default();
            approvals.remember(remember.clone(), 1);
            let here = GatedCall { scope: Scope::Chat, waived: false, ..call };
            prop_assert_eq!(settle(&here, &approvals, &world, &[]).0, Verdict::Allow);
            let nothing: Vec<_> = ALL.into_iter().map(|fact| {
                (fact, (fact == Fact::CmdString).then(|| cmd(other)))
            }).collect();
            let asking = GatedCall { settings: GateSettings { own: OwnApproval::Ask, ..here.settings }, ..here };
            if remember.value.as_deref().is_some_and(|value| value != other) {
                prop_assert_ne!(settle(&asking, &approvals, &nothing, &[]).0, Verdict::Allow);
            }
        }
    }
}
