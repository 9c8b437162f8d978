//! A call at the gate: facts come in, it is decided, the user answers. What is decided is `gate.rs`'s.

use super::{Abort, Context, Denied, End, Prepared, Stage, ToolCall};
use crate::engine::effect::{CallEffect, Effect};
use crate::engine::event::Answer;
use crate::gate::approvals::{Approval, Scope};
use crate::gate::judge::Judged;
use crate::gate::verdict::Verdict;
use crate::gate::{self, FACT_LIMIT_MS, Fact, Facts, Found, GatedCall};

/// What counts as found when a fact did not come in time.
pub(super) fn late(fact: Fact) -> Option<Found> {
    let judged = || Found::Judge(Judged::Failed(format!("no answer in {} s", FACT_LIMIT_MS / 1_000)));
    (fact == Fact::Judge).then(judged)
}

impl ToolCall {
    /// A fact arrived; none: it could not be found, which counts as ask.
    pub(super) fn fact_found(
        &mut self,
        ctx: &mut Context,
        (mut prepared, mut facts, since_ms): (Prepared, Facts, u64),
        fact: Fact,
        found: Option<Found>,
    ) -> Stage {
        // The judge's time is none of the tool's.
        prepared.asked_ms += ctx.now_ms.saturating_sub(since_ms);
        if fact == Fact::Judge {
            let judged = match &found {
                Some(Found::Judge(judged)) => judged.clone(),
                Some(_) | None => Judged::Failed("no answer".to_owned()),
            };
            self.emit(ctx, CallEffect::EndJudge { judged: Some(judged) });
        }
        facts.take(fact, found);
        self.decide(ctx, prepared, facts)
    }

    pub(super) fn decide(&mut self, ctx: &mut Context, prepared: Prepared, mut facts: Facts) -> Stage {
        loop {
            let call = GatedCall {
                tool: &self.name,
                settings: prepared.preparation.gate,
                repeated: self.repeated,
                auto: ctx.auto,
                waived: self.carried.waived,
                scope: ctx.settings.scope(),
                rules: ctx.permissions.map(|permissions| &permissions.rules),
            };
            let fact = match gate::decide(&call, ctx.approvals, &facts) {
                Verdict::Allow => return self.let_through(ctx, prepared),
                Verdict::Deny(denial) => return self.end(ctx, prepared, End::Denied(Denied::ByRule(denial)), 0),
                Verdict::Ask(question) => {
                    let remember = (question.remember.clone(), question.scope);
                    let changes = prepared.preparation.changes.clone();
                    let asked = CallEffect::AskApproval { question: Box::new(question), changes, rest: ctx.rest };
                    self.emit(ctx, asked);
                    return Stage::Asking { prepared, since_ms: ctx.now_ms, remember };
                }
                Verdict::Need(fact) => fact,
            };
            match self.search(ctx, &prepared, &facts, fact) {
                Some(effect) => {
                    self.emit(ctx, effect);
                    return Stage::Deciding { prepared, facts, fact, since_ms: ctx.now_ms };
                }
                None => facts.take(fact, None),
            }
        }
    }

    /// How a fact is found. None: it cannot be.
    fn search(&self, ctx: &Context, prepared: &Prepared, facts: &Facts, fact: Fact) -> Option<CallEffect> {
        match fact {
            Fact::Judge => Some(CallEffect::AskJudge),
            Fact::Rules => Some(CallEffect::LoadPermissions),
            Fact::Wants => ctx.permissions.cloned().map(|permissions| CallEffect::FindWants { permissions }),
            // It is needed only where there is a project, and after the command.
            Fact::Saved => {
                let asked = facts.asked();
                let own = || facts.approval(&self.name, prepared.preparation.gate).map(|approval| vec![approval]);
                let approvals = if asked.is_empty() { own()? } else { asked };
                Some(CallEffect::FindSaved { project: ctx.settings.project.clone()?, approvals })
            }
            Fact::OwnApproval | Fact::CmdString | Fact::IsSafe | Fact::JudgeContext => {
                Some(CallEffect::FindFact { fact })
            }
        }
    }

    /// The user answered.
    pub(super) fn answered(
        &mut self,
        ctx: &mut Context,
        mut prepared: Prepared,
        since_ms: u64,
        (remember, scope): (Vec<Approval>, Scope),
        answer: Answer,
    ) -> Stage {
        prepared.asked_ms += ctx.now_ms.saturating_sub(since_ms);
        self.emit(ctx, CallEffect::CloseQuestion);
        match answer {
            // Where nothing can be remembered (the third identical call in a row), it is this call only.
            Answer::Always { pattern } => {
                let project = ctx.settings.project.clone().filter(|_| scope == Scope::Project);
                for approval in with_pattern(remember, pattern) {
                    match &project {
                        Some(project) => {
                            ctx.effects.push(Effect::SaveApproval { project: project.clone(), approval });
                        }
                        None => ctx.approvals.remember(approval, ctx.now_ms),
                    }
                }
                self.let_through(ctx, prepared)
            }
            Answer::Accept => self.let_through(ctx, prepared),
            Answer::Reject { reason } => self.end(ctx, prepared, End::Rejected(reason), 0),
            Answer::Cancel => self.end(ctx, prepared, End::Aborted(Abort::Cancelled), 0),
        }
    }

    fn let_through(&mut self, ctx: &mut Context, prepared: Prepared) -> Stage {
        self.carried.waived = true;
        self.run_cmd(ctx, prepared, 0)
    }
}

/// What is remembered: where the user has typed a pattern for the one value that was asked about, that.
fn with_pattern(mut remember: Vec<Approval>, pattern: Option<String>) -> Vec<Approval> {
    if let ([approval], Some(pattern)) = (&mut remember[..], pattern)
        && approval.value.as_ref().is_some_and(|value| *value != pattern)
    {
        (approval.value, approval.is_pattern) = (Some(pattern), true);
    }
    remember
}
