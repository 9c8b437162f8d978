//! What the gate says to a call, and why: as data. The words are made where they are shown.

use super::Fact;
use super::approvals::{Approval, Scope};
use super::judge::Judged;
use super::rule::{Basis, Rule};

/// What happens to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// The user is asked.
    Ask(Question),
    /// It does not run.
    Deny(Denial),
    /// Decide again when this is known.
    Need(Fact),
}

/// Why the user is asked, and what the answer can mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What made it ask.
    pub cause: Cause,
    /// What *Always accept* remembers; nothing: it is not offered.
    pub remember: Vec<Approval>,
    /// How far that reaches.
    pub scope: Scope,
    /// What the rules ask about, of all that the call wants: key and value.
    pub wants: Vec<(String, String)>,
    /// A pattern that may be remembered in place of the one shell command that is asked about (P-66).
    pub suggestion: Option<String>,
}

impl Question {
    /// A question that only counts for this call.
    pub fn once(cause: Cause, scope: Scope) -> Self {
        Self { cause, remember: Vec::new(), scope, wants: Vec::new(), suggestion: None }
    }
}

/// What made the gate ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The permission rules could not be loaded.
    NoRules,
    /// What the call wants could not be found, so no rule could be looked up.
    Unknown,
    /// The third identical call in a row (step 2).
    DoomLoop,
    /// `protect` in auto mode (step 4).
    Protected,
    /// `require_cmd_approval` in auto mode (step 6), and why the command does not count as safe.
    AutoMode(Doubt),
    /// A permission rule (step 7).
    Rule(RuleReason),
    /// The tool's own setting (step 8).
    OwnApproval,
    /// The function failed that decides whether the tool asks (step 8).
    OwnApprovalFailed,
}

/// Why a command does not count as safe in auto mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Nobody says that it is.
    Unproven,
    /// The tool's `gates.is_safe` failed.
    IsSafeFailed,
    /// The tool's `gates.judge_context` failed.
    JudgeContextFailed,
    /// The judge says so, or has no verdict.
    Judge(Judged),
}

/// Why the permission rules ask about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleReason {
    /// The rule that asks; none: what the call would run cannot be told before it runs.
    pub rule: Option<RuleText>,
    /// What it rests on.
    pub basis: Basis,
}

impl RuleReason {
    /// What a ruling rests on.
    pub fn new(rule: Option<&Rule>, basis: &Basis) -> Self {
        Self { rule: rule.map(RuleText::from), basis: basis.clone() }
    }
}

/// Why a call does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The key under which the call wants something.
    pub key: String,
    /// What it wants.
    pub value: String,
    /// The rule that forbids it.
    pub rule: Option<RuleText>,
}

/// A permission rule as it can be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleText {
    /// Its key.
    pub key: String,
    /// Its pattern.
    pub pattern: String,
    /// Where it stands.
    pub source: String,
}

impl From<&Rule> for RuleText {
    fn from(rule: &Rule) -> Self {
        Self {
            key: rule.key.as_str().to_owned(),
            pattern: rule.pattern.as_str().to_owned(),
            source: rule.source.to_string(),
        }
    }
}
