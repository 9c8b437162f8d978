//! The gate: the one verdict on a call. Pure; what it must know from outside it asks for with [`Verdict::Need`].

pub mod approvals;
pub mod config;
pub mod finder;
pub mod judge;
pub mod pair;
pub mod path;
pub mod rule;
pub mod shell;
#[cfg(test)]
mod tests;
pub mod unknown;
pub mod value;
pub mod verdict;

use std::sync::Arc;

use approvals::{Approval, Approvals, Scope};
use judge::Judged;
use pair::{Pair, Want};
use path::Places;
use rule::{Action, Rule, Rules};
use shell::BASH;
use value::Value;
use verdict::{Cause, Denial, Doubt, Question, RuleReason, RuleText, Verdict};

use crate::tool::{GateSettings, OwnApproval};

/// How many identical calls in a row make the gate ask (step 2).
pub const DOOM_LOOP: u32 = 3;

/// How long a fact may take before it counts as *ask*, in ms.
pub const FACT_LIMIT_MS: u64 = 30_000;

/// The longest value that *Always accept* remembers, in bytes: who reads more of it than this before accepting it for ever?
pub const MAX_VALUE_BYTES: usize = 16 * 1024;

/// What counts for the calls of one chat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Permissions {
    /// The rules, weakest first.
    pub rules: Rules,
    /// What paths are compared with.
    pub places: Places,
}

/// What the gate looks at.
#[derive(Clone, Copy, Debug)]
pub struct GatedCall<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// What its definition says.
    pub settings: GateSettings,
    /// How many times in a row the same call was made, this one included.
    pub repeated: u32,
    /// Whether the chat is in auto mode now.
    pub auto: bool,
    /// Whether a call before it in a run of calls that share their handlers was let through (`use_handlers_once`).
    pub waived: bool,
    /// How far an approval reaches that is given now.
    pub scope: Scope,
    /// The permission rules of the chat; none: they are not loaded yet.
    pub rules: Option<&'a Rules>,
}

impl GatedCall<'_> {
    /// Whether a rule may say anything to this call. For most calls of most users none can, and nothing is looked for.
    fn concerns(&self, rules: &Rules) -> bool {
        self.settings.declares || rules.concerns(self.tool) || (self.settings.has_commands && rules.concerns(BASH))
    }
}

/// Something that a step of the gate needs to know from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// The permission rules.
    Rules,
    /// What the call wants, as the rules see it.
    Wants,
    /// The tool's own setting: a function in `require_approval_before`, or `handlers.prompt_condition`.
    OwnApproval,
    /// What an approval of this very command is remembered under.
    CmdString,
    /// Whether the project's approvals, which are kept in a file, cover the call.
    Saved,
    /// `gates.is_safe`
    IsSafe,
    /// Whether `gates.judge_context` describes the call.
    JudgeContext,
    /// What the judge says about that.
    Judge,
}

/// A fact and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// They are loaded.
    Rules,
    /// Keys and values, judged by the rules.
    Wants(Arc<[Want]>),
    /// Whether it asks.
    OwnApproval(bool),
    /// The command, or what stands for it.
    CmdString(String),
    /// Whether they cover it.
    Saved(bool),
    /// Whether it is safe.
    IsSafe(bool),
    /// Whether there is a text for the judge.
    JudgeContext(bool),
    /// The judge's verdict.
    Judge(Judged),
}

impl Found {
    /// Which fact it is.
    pub fn fact(&self) -> Fact {
        match self {
            Self::Rules => Fact::Rules,
            Self::Wants(_) => Fact::Wants,
            Self::OwnApproval(_) => Fact::OwnApproval,
            Self::CmdString(_) => Fact::CmdString,
            Self::Saved(_) => Fact::Saved,
            Self::IsSafe(_) => Fact::IsSafe,
            Self::JudgeContext(_) => Fact::JudgeContext,
            Self::Judge(_) => Fact::Judge,
        }
    }
}

/// The facts that were looked for. Of each: none, it was not looked for yet; an inner none, it could not be found (a throw,
/// a wrong type, no answer in time), which never lets a call run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Whether they could be loaded.
    rules: Option<bool>,
    wants: Option<Option<Arc<[Want]>>>,
    own_approval: Option<Option<bool>>,
    cmd_string: Option<Option<String>>,
    saved: Option<Option<bool>>,
    is_safe: Option<Option<bool>>,
    judge_context: Option<Option<bool>>,
    judge: Option<Option<Judged>>,
}

impl Facts {
    /// Takes a fact in. None, or the answer to another question: it could not be found.
    pub fn take(&mut self, fact: Fact, found: Option<Found>) {
        match (fact, found) {
            (Fact::Rules, found) => self.rules = Some(matches!(found, Some(Found::Rules))),
            (Fact::Wants, Some(Found::Wants(wants))) => self.wants = Some(Some(wants)),
            (Fact::Wants, _) => self.wants = Some(None),
            (Fact::OwnApproval, Some(Found::OwnApproval(asks))) => self.own_approval = Some(Some(asks)),
            (Fact::OwnApproval, _) => self.own_approval = Some(None),
            (Fact::CmdString, Some(Found::CmdString(value))) => self.cmd_string = Some(Some(value)),
            (Fact::CmdString, _) => self.cmd_string = Some(None),
            (Fact::Saved, Some(Found::Saved(covers))) => self.saved = Some(Some(covers)),
            (Fact::Saved, _) => self.saved = Some(None),
            (Fact::IsSafe, Some(Found::IsSafe(safe))) => self.is_safe = Some(Some(safe)),
            (Fact::IsSafe, _) => self.is_safe = Some(None),
            (Fact::JudgeContext, Some(Found::JudgeContext(there_is))) => self.judge_context = Some(Some(there_is)),
            (Fact::JudgeContext, _) => self.judge_context = Some(None),
            (Fact::Judge, Some(Found::Judge(judged))) => self.judge = Some(Some(judged)),
            (Fact::Judge, _) => self.judge = Some(None),
        }
    }

    /// The approvals of all that the rules ask about, as far as it is known.
    pub fn asked(&self) -> Vec<Approval> {
        let wants = self.wants.iter().flatten().flat_map(|wants| wants.iter());
        wants.filter(|want| want.action == Some(Action::Ask)).map(|want| want.pair.approval()).collect()
    }

    /// The approval that an *Always accept* of this call stands for, as far as it is known.
    pub fn approval(&self, tool: &str, settings: GateSettings) -> Option<Approval> {
        let value = match (settings.by_command, &self.cmd_string) {
            (false, _) => None,
            (true, Some(Some(value))) => Some(value.clone()),
            (true, Some(None) | None) => return None,
        };
        Some(Approval::new(tool, value))
    }
}

/// Decides on one call. The steps, the first decisive one wins (numbers as in the help):
///
/// 1. a permission rule that denies any of what the call wants: it does not run, and nothing lifts that;
/// 2. the third identical call in a row asks, and cannot be remembered, unless a rule allows `doom_loop`;
/// 3. permission rules that allow all of what the call wants: it runs;
/// 4. auto mode and `protect`: asks, and cannot be remembered;
/// 5. a remembered approval runs: of all that a rule asks about; where no rule asks, of the tool, or with
///    `require_cmd_approval` of this very command;
/// 6. auto mode: without `require_cmd_approval` it runs. With it: what `is_safe` calls safe runs; else, where the judge may
///    be asked and there is a text for it, what the judge calls safe runs; everything else asks;
/// 7. a permission rule that asks about any of what the call wants asks;
/// 8. the tool's own setting: a boolean, or the answer of its function. A call behind one that was let through in a run with
///    `use_handlers_once` skips this step, but not with `require_cmd_approval`: one command says nothing about the next.
///
/// A fact that could not be found counts as *ask*.
pub fn decide(call: &GatedCall, approvals: &Approvals, facts: &Facts) -> Verdict {
    let rules = match (call.rules, facts.rules) {
        (Some(rules), _) => rules,
        (None, None) => return Verdict::Need(Fact::Rules),
        (None, Some(_)) => return Verdict::Ask(question(call, Cause::NoRules)),
    };
    let wants: &[Want] = match &facts.wants {
        _ if !call.concerns(rules) => &[],
        None => return Verdict::Need(Fact::Wants),
        Some(None) => return Verdict::Ask(question(call, Cause::Unknown)),
        Some(Some(wants)) => wants,
    };
    if let Some(want) = wants.iter().find(|want| want.action == Some(Action::Deny)) {
        return Verdict::Deny(denied(&want.pair, want.rule.as_ref()));
    }
    if call.repeated >= DOOM_LOOP {
        let ruling = rules.find(rule::DOOM_LOOP, &[&Value::from(call.tool)]);
        match ruling.action {
            Some(Action::Allow) => {}
            Some(Action::Deny) => {
                return Verdict::Deny(denied(&Pair::new(rule::DOOM_LOOP, call.tool), ruling.rule));
            }
            Some(Action::Ask) | None => return Verdict::Ask(question(call, Cause::DoomLoop)),
        }
    }
    if !wants.is_empty() && wants.iter().all(|want| want.action == Some(Action::Allow)) {
        return Verdict::Allow;
    }
    if call.auto && call.settings.protect {
        return Verdict::Ask(question(call, Cause::Protected));
    }
    let asked: Vec<&Want> = wants.iter().filter(|want| want.action == Some(Action::Ask)).collect();
    // Step 5 only lets run what a later step would ask about, so that is all it is looked up for.
    let skips_own = call.waived && !call.settings.by_command;
    let own_may_ask = call.settings.own != OwnApproval::Run && !skips_own;
    let may_ask = if call.auto { call.settings.by_command } else { !asked.is_empty() || own_may_ask };
    if !may_ask {
        return Verdict::Allow;
    }
    match is_remembered(call, approvals, facts, &asked) {
        Ok(true) => return Verdict::Allow,
        Ok(false) => {}
        Err(fact) => return Verdict::Need(fact),
    }
    if call.auto {
        return match is_safe(call.settings, facts) {
            Safety::Safe => Verdict::Allow,
            Safety::Ask(doubt) => ask(call, Cause::AutoMode(doubt), facts, &asked),
            Safety::Need(fact) => Verdict::Need(fact),
        };
    }
    if !asked.is_empty() {
        let reason = RuleReason::new(asked[0].rule.as_ref(), &asked[0].basis);
        return ask(call, Cause::Rule(reason), facts, &asked);
    }
    if !own_may_ask {
        return Verdict::Allow;
    }
    match (call.settings.own, facts.own_approval) {
        (OwnApproval::Run, _) | (OwnApproval::Function, Some(Some(false))) => Verdict::Allow,
        (OwnApproval::Function, None) => Verdict::Need(Fact::OwnApproval),
        (OwnApproval::Function, Some(None)) => ask(call, Cause::OwnApprovalFailed, facts, &[]),
        (OwnApproval::Ask, _) | (OwnApproval::Function, Some(Some(true))) => ask(call, Cause::OwnApproval, facts, &[]),
    }
}

/// A question that only counts for this call.
fn question(call: &GatedCall, cause: Cause) -> Question {
    Question::once(cause, call.scope)
}

fn denied(pair: &Pair, rule: Option<&Rule>) -> Denial {
    Denial { key: pair.key.clone(), value: pair.value.clone(), rule: rule.map(RuleText::from) }
}

/// Step 5.
fn is_remembered(call: &GatedCall, approvals: &Approvals, facts: &Facts, asked: &[&Want]) -> Result<bool, Fact> {
    let in_project = call.scope == Scope::Project;
    if !asked.is_empty() {
        let is_covered = |want: &&Want| want.can_be_remembered() && approvals.cover(&want.pair.approval());
        if asked.iter().all(is_covered) {
            return Ok(true);
        }
        return match facts.saved {
            None if in_project && asked.iter().all(|want| want.can_be_remembered()) => Err(Fact::Saved),
            Some(Some(covers)) => Ok(covers && in_project),
            None | Some(None) => Ok(false),
        };
    }
    if !in_project && !approvals.knows(call.tool) {
        return Ok(false);
    }
    if call.settings.by_command && facts.cmd_string.is_none() {
        return Err(Fact::CmdString);
    }
    let Some(approval) = facts.approval(call.tool, call.settings) else { return Ok(false) };
    if approvals.cover(&approval) {
        return Ok(true);
    }
    match facts.saved {
        None if in_project => Err(Fact::Saved),
        Some(Some(covers)) => Ok(covers && in_project),
        None | Some(None) => Ok(false),
    }
}

enum Safety {
    Safe,
    Ask(Doubt),
    Need(Fact),
}

/// Step 6 for a tool with `require_cmd_approval`.
fn is_safe(settings: GateSettings, facts: &Facts) -> Safety {
    match facts.is_safe {
        None if settings.is_safe => return Safety::Need(Fact::IsSafe),
        Some(Some(true)) if settings.is_safe => return Safety::Safe,
        Some(None) if settings.is_safe => return Safety::Ask(Doubt::IsSafeFailed),
        None | Some(_) => {}
    }
    if !settings.judge {
        return Safety::Ask(Doubt::Unproven);
    }
    match facts.judge_context {
        None => return Safety::Need(Fact::JudgeContext),
        Some(None) => return Safety::Ask(Doubt::JudgeContextFailed),
        Some(Some(false)) => return Safety::Ask(Doubt::Unproven),
        Some(Some(true)) => {}
    }
    match &facts.judge {
        None => Safety::Need(Fact::Judge),
        Some(Some(Judged::Safe(_))) => Safety::Safe,
        Some(Some(judged @ (Judged::Unsafe(_) | Judged::Failed(_)))) => Safety::Ask(Doubt::Judge(judged.clone())),
        Some(None) => Safety::Ask(Doubt::Judge(Judged::Failed(format!("no answer in {} s", FACT_LIMIT_MS / 1_000)))),
    }
}

/// Asks, once it is known what *Always accept* would remember.
fn ask(call: &GatedCall, cause: Cause, facts: &Facts, asked: &[&Want]) -> Verdict {
    if !asked.is_empty() {
        let fits = |want: &&Want| want.can_be_remembered() && want.pair.value.len() <= MAX_VALUE_BYTES;
        let approvals = || asked.iter().map(|want| want.pair.approval()).collect();
        let remember: Vec<Approval> = if asked.iter().all(fits) { approvals() } else { Vec::new() };
        let wants = asked.iter().map(|want| (want.pair.key.clone(), want.pair.value.clone())).collect();
        let suggestion = match (asked, &remember[..]) {
            ([want], [_]) if want.pair.key == BASH => shell::suggest(&want.pair.value),
            _ => None,
        };
        return Verdict::Ask(Question { remember, wants, suggestion, ..question(call, cause) });
    }
    if call.settings.by_command && facts.cmd_string.is_none() {
        return Verdict::Need(Fact::CmdString);
    }
    let approval = facts.approval(call.tool, call.settings);
    let short = approval.filter(|approval| approval.value.as_ref().is_none_or(|value| value.len() <= MAX_VALUE_BYTES));
    Verdict::Ask(Question { remember: short.into_iter().collect(), ..question(call, cause) })
}
