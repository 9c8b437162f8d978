//! The gate: the one verdict on a call. Pure; what it must know from outside it asks for with [`Verdict::Need`].

pub mod approvals;
pub mod config;
pub mod pair;
pub mod path;
pub mod rule;
pub mod shell;

use approvals::Approvals;

use crate::tool::OwnApproval;

/// How many identical calls in a row make the gate ask (step 2).
pub const DOOM_LOOP: u32 = 3;

/// How long a fact may take before it counts as *ask*, in ms.
pub const FACT_LIMIT_MS: u64 = 30_000;

/// What the gate looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatedCall<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// How many times in a row the same call was made, this one included.
    pub repeated: u32,
    /// The tool's own setting.
    pub own_approval: OwnApproval,
}

/// Something a step of the gate needs to know and only Lua can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// The tool's own setting: a function in `require_approval_before`, or `handlers.prompt_condition`. True asks.
    OwnApproval,
}

/// The facts that were found. A fact that could not be found is known to be `true`: ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// [`Fact::OwnApproval`]; none: not asked for yet.
    pub own_approval: Option<bool>,
}

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// The user is asked.
    Ask(Question),
    /// Decide again when this is known.
    Need(Fact),
}

/// Why the user is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// What made it ask.
    pub cause: Cause,
    /// Whether *Always accept* is offered; it remembers (tool, `*`) in this chat.
    pub can_remember: bool,
}

/// What made the gate ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The third identical call in a row (step 2).
    DoomLoop,
    /// The tool's own setting (step 8).
    OwnApproval,
}

/// Decides on one call. The steps, the first decisive one wins (numbers as in the help):
///
/// 2. the third identical call in a row asks, and cannot be remembered;
/// 5. a remembered approval runs;
/// 8. the tool's own setting: a boolean, or the answer of its function, where unknown counts as ask.
pub fn decide(call: GatedCall, approvals: &Approvals, facts: Facts) -> Verdict {
    if call.repeated >= DOOM_LOOP {
        return Verdict::Ask(Question { cause: Cause::DoomLoop, can_remember: false });
    }
    if approvals.covers(call.tool) {
        return Verdict::Allow;
    }
    let asks = match (call.own_approval, facts.own_approval) {
        (OwnApproval::Run, _) => false,
        (OwnApproval::Ask, _) => true,
        (OwnApproval::Function, Some(asks)) => asks,
        (OwnApproval::Function, None) => return Verdict::Need(Fact::OwnApproval),
    };
    if asks { Verdict::Ask(Question { cause: Cause::OwnApproval, can_remember: true }) } else { Verdict::Allow }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(own_approval: OwnApproval) -> GatedCall<'static> {
        GatedCall { tool: "calculator", repeated: 1, own_approval }
    }

    const OWN: Verdict = Verdict::Ask(Question { cause: Cause::OwnApproval, can_remember: true });

    #[test]
    fn own_setting_decides_when_nothing_is_remembered() {
        let t = |own, found| decide(call(own), &Approvals::default(), Facts { own_approval: found });
        assert_eq!(t(OwnApproval::Run, None), Verdict::Allow);
        assert_eq!(t(OwnApproval::Ask, None), OWN);
        assert_eq!(t(OwnApproval::Function, None), Verdict::Need(Fact::OwnApproval));
        assert_eq!(t(OwnApproval::Function, Some(true)), OWN);
        assert_eq!(t(OwnApproval::Function, Some(false)), Verdict::Allow);
    }

    #[test]
    fn a_remembered_approval_runs_only_its_own_tool() {
        let mut approvals = Approvals::default();
        approvals.remember("calculator");
        assert_eq!(decide(call(OwnApproval::Ask), &approvals, Facts::default()), Verdict::Allow);
        let other = GatedCall { tool: "calculator2", ..call(OwnApproval::Ask) };
        assert_eq!(decide(other, &approvals, Facts::default()), OWN);
    }

    #[test]
    fn r153_the_third_identical_call_asks_whatever_is_remembered() {
        let mut approvals = Approvals::default();
        approvals.remember("calculator");
        for (repeated, asks) in [(1, false), (2, false), (3, true), (4, true)] {
            let verdict = decide(GatedCall { repeated, ..call(OwnApproval::Run) }, &approvals, Facts::default());
            assert_eq!(verdict != Verdict::Allow, asks, "{repeated}");
        }
    }
}
