//! The gate, step by step and with facts in any order.

use proptest::prelude::*;

use super::rule::Basis;
use super::*;
use crate::tool::GateSettings;

const ALL: [Fact; 6] = [Fact::OwnApproval, Fact::CmdString, Fact::Saved, Fact::IsSafe, Fact::JudgeContext, Fact::Judge];

fn no_rules() -> &'static Rules {
    static NONE: std::sync::LazyLock<Rules> = std::sync::LazyLock::new(Rules::default);
    &NONE
}

fn call(own: OwnApproval) -> GatedCall<'static> {
    GatedCall {
        tool: "run",
        settings: GateSettings::new(own),
        repeated: 1,
        auto: false,
        waived: false,
        scope: Scope::Chat,
        rules: Some(no_rules()),
    }
}

/// A call in auto mode of a tool with `require_cmd_approval`.
fn guarded() -> GatedCall<'static> {
    let mut call = call(OwnApproval::Ask);
    (call.auto, call.settings.by_command) = (true, true);
    call
}

fn approval(tool: &str, value: Option<&str>) -> Approval {
    Approval::new(tool, value.map(str::to_owned))
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

fn asks(cause: Cause, remember: Option<(Approval, Scope)>) -> Verdict {
    let scope = remember.as_ref().map_or(Scope::Chat, |(_, scope)| *scope);
    let remember = remember.into_iter().map(|(approval, _)| approval).collect();
    Verdict::Ask(Question { cause, remember, scope, wants: vec![], suggestion: None })
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
    assert_eq!(t(OwnApproval::Ask, &none), asks(Cause::OwnApproval, whole.clone()));
    assert_eq!(t(OwnApproval::Function, &none), Verdict::Need(Fact::OwnApproval));
    let asking = facts(&[Found::OwnApproval(true)]);
    assert_eq!(t(OwnApproval::Function, &asking), asks(Cause::OwnApproval, whole.clone()));
    assert_eq!(t(OwnApproval::Function, &facts(&[Found::OwnApproval(false)])), Verdict::Allow);
    assert_eq!(t(OwnApproval::Function, &failed(&[Fact::OwnApproval])), asks(Cause::OwnApprovalFailed, whole));
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
        assert_eq!(decide(&call, &approvals, &facts(&[cmd(other)])), asks(Cause::OwnApproval, remember));
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
    assert_eq!(decide(&call, &approvals, &failed(&[Fact::CmdString])), asks(Cause::OwnApproval, None));
    let long = facts(&[cmd(&"x".repeat(MAX_VALUE_BYTES + 1))]);
    assert_eq!(decide(&call, &approvals, &long), asks(Cause::OwnApproval, None));
}

#[test]
fn approvals_of_the_project_are_looked_up_where_they_matter_and_nowhere_else() {
    let in_project = |own| GatedCall { scope: Scope::Project, ..call(own) };
    let none = Approvals::default();
    assert_eq!(decide(&in_project(OwnApproval::Run), &none, &Facts::default()), Verdict::Allow);
    let asking = in_project(OwnApproval::Ask);
    assert_eq!(decide(&asking, &none, &Facts::default()), Verdict::Need(Fact::Saved));
    assert_eq!(decide(&asking, &none, &facts(&[Found::Saved(true)])), Verdict::Allow);
    let question = asks(Cause::OwnApproval, Some((approval("run", None), Scope::Project)));
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
        assert_eq!(verdict == asks(Cause::DoomLoop, None), expected, "{repeated}");
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
    assert_eq!(t(&|gate| gate.protect = true), asks(Cause::Protected, None));
    let remember = Some((approval("run", Some("ls")), Scope::Chat));
    assert_eq!(t(&|gate| gate.by_command = true), asks(Cause::AutoMode(Doubt::Unproven), remember));
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
    let asked = |doubt| asks(Cause::AutoMode(doubt), Some((approval("run", Some("rm x")), Scope::Chat)));
    assert_eq!(judged(Judged::Safe("reads".into())), Verdict::Allow);
    assert_eq!(
        judged(Judged::Unsafe("deletes files".into())),
        asked(Doubt::Judge(Judged::Unsafe("deletes files".into())))
    );
    assert_eq!(judged(Judged::Failed("no key".into())), asked(Doubt::Judge(Judged::Failed("no key".into()))));
    assert_eq!(t(&[safe(false), Found::JudgeContext(false), cmd("rm x")]), asked(Doubt::Unproven));
    // A remembered command needs neither.
    assert_eq!(decide(&call, &given(&[("run", Some("rm x"))]), &facts(&[cmd("rm x")])), Verdict::Allow);
}

#[test]
fn a_gate_that_fails_asks_and_goes_no_further() {
    let mut call = guarded();
    (call.settings.is_safe, call.settings.judge) = (true, true);
    let none = Approvals::default();
    let asked = |list: &[Found], fails, doubt| {
        let mut facts = facts(list);
        facts.take(fails, None);
        facts.take(Fact::CmdString, None);
        assert_eq!(decide(&call, &none, &facts), asks(Cause::AutoMode(doubt), None), "{fails:?}");
    };
    asked(&[], Fact::IsSafe, Doubt::IsSafeFailed);
    asked(&[Found::IsSafe(false)], Fact::JudgeContext, Doubt::JudgeContextFailed);
    asked(
        &[Found::IsSafe(false), Found::JudgeContext(true)],
        Fact::Judge,
        Doubt::Judge(Judged::Failed("no answer in 30 s".into())),
    );
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
    assert_eq!(decide(&protected, &Approvals::default(), &Facts::default()), asks(Cause::Protected, None));
}

fn settings() -> impl Strategy<Value = GateSettings> {
    let own = prop_oneof![Just(OwnApproval::Run), Just(OwnApproval::Ask), Just(OwnApproval::Function)];
    (own, any::<[bool; 5]>()).prop_map(|(own, [protect, by_command, is_safe, judge, has_commands])| GateSettings {
        own,
        protect,
        by_command,
        is_safe,
        judge,
        declares: false,
        has_commands,
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
        rules: Some(no_rules()),
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
            prop_assert_eq!(verdict, Verdict::Ask(Question::once(Cause::DoomLoop, call.scope)));
            prop_assert_eq!(needed, vec![]);
        } else if call.auto && call.settings.protect {
            prop_assert_eq!(verdict, Verdict::Ask(Question::once(Cause::Protected, call.scope)));
            prop_assert_eq!(needed, vec![]);
        } else {
            prop_assert!(matches!(verdict, Verdict::Allow | Verdict::Ask(_)), "no rules, no deny");
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
        if let Verdict::Ask(Question { remember, scope, cause, .. }) = verdict
            && let [remember] = &remember[..]
        {
            prop_assert_eq!(scope, call.scope);
            prop_assert!(matches!(cause, Cause::AutoMode(_) | Cause::OwnApproval | Cause::OwnApprovalFailed));
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

// Rules ---------------------------------------------------------------------------------------------------------------

/// Rules of `setup()` behind those that are built in.
fn rules(list: &[(&str, &str, Action)]) -> Rules {
    let source = rule::Source { layer: rule::Layer::Setup, agent: None, place: "setup()".to_owned(), line: None };
    let source = Arc::new(source);
    let own = list.iter().map(|(key, pattern, action)| Rule {
        key: rule::Pattern::key(key),
        pattern: rule::Pattern::key(pattern),
        action: *action,
        source: Arc::clone(&source),
    });
    Rules::new(rule::defaults("/").into_iter().chain(own).collect())
}

fn shell_call<'a>(rules: &'a Rules, own: OwnApproval) -> GatedCall<'a> {
    let settings = GateSettings { declares: true, ..GateSettings::new(own) };
    GatedCall { settings, rules: Some(rules), ..call(own) }
}

fn wants(rules: &Rules, list: &[(&str, &str)]) -> Facts {
    let pairs: Vec<_> = list.iter().map(|(key, value)| Want::new(Pair::new(key, value), rules)).collect();
    facts(&[Found::Wants(pairs.into())])
}

use Action::{Allow as Yes, Ask as Maybe, Deny as No};

fn rule_text(key: &str, pattern: &str) -> RuleText {
    RuleText { key: key.into(), pattern: pattern.into(), source: "setup()".into() }
}

#[test]
fn p41_deny_is_final_and_quotes_its_rule() {
    let list = rules(&[(BASH, "*", Yes), (BASH, "rm *", No)]);
    let call = GatedCall { auto: true, repeated: 5, ..shell_call(&list, OwnApproval::Run) };
    let mut approvals = given(&[("run", None), (BASH, Some("rm x"))]);
    approvals.remember(Approval { is_pattern: true, ..approval(BASH, Some("*")) }, 1);
    let verdict = decide(&call, &approvals, &wants(&list, &[(BASH, "ls"), (BASH, "rm x")]));
    let rule = Some(rule_text(BASH, "rm *"));
    assert_eq!(verdict, Verdict::Deny(Denial { key: BASH.into(), value: "rm x".into(), rule }));
}

#[test]
fn rows_39_and_r012_an_approval_lifts_no_deny() {
    let list = rules(&[("edit", "*", Maybe), ("edit", "SECRET.md", No)]);
    let mut approvals = Approvals::default();
    approvals.remember(Approval { is_pattern: true, ..approval("edit", Some("*")) }, 1);
    let t = |value: &str| decide(&shell_call(&list, OwnApproval::Ask), &approvals, &wants(&list, &[("edit", value)]));
    assert!(matches!(t("SECRET.md"), Verdict::Deny(_)));
    assert_eq!(t("a.txt"), Verdict::Allow);
}

#[test]
fn row_40_a_prefix_that_was_taken_covers_what_it_matches() {
    let list = rules(&[(BASH, "*", Maybe)]);
    let mut approvals = Approvals::default();
    approvals.remember(Approval { is_pattern: true, ..approval(BASH, Some("git status *")) }, 1);
    let t = |value: &str| decide(&shell_call(&list, OwnApproval::Run), &approvals, &wants(&list, &[(BASH, value)]));
    assert_eq!(t("git status -s"), Verdict::Allow);
    let Verdict::Ask(question) = t("git stash") else { panic!("it asks") };
    assert_eq!(question.remember, [approval(BASH, Some("git stash"))]);
    assert_eq!(question.wants, [(BASH.to_owned(), "git stash".to_owned())]);
    assert_eq!(question.suggestion, None, "two words of three");
    let reason = RuleReason { rule: Some(rule_text(BASH, "*")), basis: Basis::Match };
    assert_eq!(question.cause, Cause::Rule(reason));
    let Verdict::Ask(question) = t("git log -3") else { panic!("it asks") };
    assert_eq!(question.suggestion.as_deref(), Some("git log *"));
}

#[test]
fn r011_what_is_remembered_is_literal() {
    let list = rules(&[(BASH, "*", Maybe)]);
    let approvals = given(&[(BASH, Some("sed -n 's/a*/b/p' f"))]);
    let t = |value: &str| decide(&shell_call(&list, OwnApproval::Run), &approvals, &wants(&list, &[(BASH, value)]));
    assert_eq!(t("sed -n 's/a*/b/p' f"), Verdict::Allow);
    assert!(matches!(t("sed -n 's/aX/b/w out; s/b/p' f"), Verdict::Ask(_)));
}

#[test]
fn row_45_auto_mode_turns_ask_into_allow_and_never_deny() {
    let list = rules(&[(BASH, "*", Maybe), (BASH, "rm *", No)]);
    let call = GatedCall { auto: true, ..shell_call(&list, OwnApproval::Ask) };
    let t = |value: &str| decide(&call, &Approvals::default(), &wants(&list, &[(BASH, value)]));
    assert_eq!(t("ls"), Verdict::Allow);
    assert!(matches!(t("rm x"), Verdict::Deny(_)));
    let protected = GateSettings { protect: true, ..call.settings };
    let call = GatedCall { settings: protected, ..call };
    let verdict = decide(&call, &Approvals::default(), &wants(&list, &[(BASH, "ls")]));
    assert_eq!(verdict, asks(Cause::Protected, None));
}

#[test]
fn a_rule_that_allows_all_of_a_call_beats_the_tools_own_setting_and_one_that_allows_a_part_does_not() {
    let list = rules(&[(BASH, "git *", Yes)]);
    let call = shell_call(&list, OwnApproval::Ask);
    let t = |wanted: &[(&str, &str)]| decide(&call, &Approvals::default(), &wants(&list, wanted));
    assert_eq!(t(&[(BASH, "git status")]), Verdict::Allow);
    assert_eq!(
        t(&[(BASH, "git status"), (BASH, "ls")]),
        asks(Cause::OwnApproval, Some((approval("run", None), Scope::Chat)))
    );
    assert_eq!(
        t(&[("read", "a.env.example")]),
        asks(Cause::OwnApproval, Some((approval("run", None), Scope::Chat))),
        "what is built in allows nothing"
    );
    let protected = GateSettings { protect: true, ..call.settings };
    let auto = GatedCall { settings: protected, auto: true, ..call };
    assert_eq!(
        decide(&auto, &Approvals::default(), &wants(&list, &[(BASH, "git status")])),
        Verdict::Allow,
        "step 3 comes before 4"
    );
}

#[test]
fn r153_a_rule_may_allow_or_deny_the_third_identical_call() {
    let t = |action: Option<Action>| {
        let list = action.map(|action| (rule::DOOM_LOOP, "run", action));
        let list = rules(list.as_slice());
        decide(
            &GatedCall { repeated: 3, rules: Some(&list), ..call(OwnApproval::Run) },
            &Approvals::default(),
            &Facts::default(),
        )
    };
    assert_eq!(t(None), asks(Cause::DoomLoop, None));
    assert_eq!(t(Some(Maybe)), asks(Cause::DoomLoop, None));
    assert_eq!(t(Some(Yes)), Verdict::Allow);
    assert!(matches!(t(Some(No)), Verdict::Deny(_)));
}

#[test]
fn what_cannot_be_found_out_asks_and_is_not_remembered() {
    let list = rules(&[(BASH, "*", Yes)]);
    let call = GatedCall { auto: true, ..shell_call(&list, OwnApproval::Run) };
    let lost = decide(&call, &given(&[("run", None)]), &failed(&[Fact::Wants]));
    assert_eq!(lost, asks(Cause::Unknown, None));
    let unloaded = GatedCall { rules: None, ..call };
    assert_eq!(decide(&unloaded, &Approvals::default(), &Facts::default()), Verdict::Need(Fact::Rules));
    assert_eq!(decide(&unloaded, &Approvals::default(), &failed(&[Fact::Rules])), asks(Cause::NoRules, None));
}

#[test]
fn r019_a_rule_for_a_tools_name_asks_whatever_kind_of_tool_it_is() {
    let list = rules(&[("run", "*", Maybe)]);
    let call = GatedCall { rules: Some(&list), ..call(OwnApproval::Run) };
    assert_eq!(decide(&call, &Approvals::default(), &Facts::default()), Verdict::Need(Fact::Wants));
    assert!(matches!(decide(&call, &Approvals::default(), &wants(&list, &[("run", "*")])), Verdict::Ask(_)));
}

#[test]
fn a_call_that_no_rule_concerns_looks_for_nothing() {
    let list = rules(&[("other", "*", No), (BASH, "*", No)]);
    let call = GatedCall { rules: Some(&list), ..call(OwnApproval::Run) };
    assert_eq!(decide(&call, &Approvals::default(), &Facts::default()), Verdict::Allow);
    let mut commands = call;
    commands.settings.has_commands = true;
    assert_eq!(decide(&commands, &Approvals::default(), &Facts::default()), Verdict::Need(Fact::Wants));
}

#[test]
fn r016_what_a_rule_asks_about_is_asked_once_and_again_when_it_was_taken_back() {
    let list = rules(&[("edit", "*", Maybe)]);
    let call = shell_call(&list, OwnApproval::Run);
    let mut approvals = Approvals::default();
    let facts = wants(&list, &[("edit", "f")]);
    let Verdict::Ask(question) = decide(&call, &approvals, &facts) else { panic!("it asks") };
    question.remember.iter().for_each(|approval| approvals.remember(approval.clone(), 1));
    assert_eq!(decide(&call, &approvals, &facts), Verdict::Allow);
    question.remember.iter().for_each(|approval| assert!(approvals.forget(approval)));
    assert!(matches!(decide(&call, &approvals, &facts), Verdict::Ask(_)));
    // In a project they are looked for where those of the project are.
    let project = GatedCall { scope: Scope::Project, ..call };
    assert_eq!(decide(&project, &approvals, &facts), Verdict::Need(Fact::Saved));
}

#[test]
fn patterns_of_approvals_cover_one_understood_line_and_no_more() {
    let mut approvals = Approvals::default();
    approvals.remember(Approval { is_pattern: true, ..approval(BASH, Some("git status *")) }, 1);
    approvals.remember(Approval { is_pattern: true, ..approval("edit", Some("src/*")) }, 1);
    let covers = |tool: &str, value: &str| approvals.cover(&approval(tool, Some(value)));
    assert!(covers(BASH, "git status -s") && covers(BASH, "git status") && covers("edit", "src/a b.rs"));
    for value in [
        "git status \r\nrm victim",
        "git status -s\nrm x",
        "git status \u{2028}rm x",
        "git status \u{85}rm x",
        "git status ((",
        "git status $(rm",
        "git status 'x",
    ] {
        assert!(!covers(BASH, value), "{value:?}");
    }
    assert!(!covers("edit", "src/a\n../x"));
    // The same text, letter by letter, is covered when it was remembered so.
    approvals.remember(approval(BASH, Some("git status ((")), 1);
    assert!(approvals.cover(&approval(BASH, Some("git status (("))));
}
