//! A call at the gate: facts come in, it is decided, the user answers. What is decided is `gate.rs`'s.

use super::{Context, End, Run, Stage, ToolCall};
use crate::engine::effect::Effect;
use crate::engine::event::Answer;
use crate::gate::approvals::{Approval, Scope};
use crate::gate::judge::Judged;
use crate::gate::{self, FACT_LIMIT_MS, Fact, Facts, Found, GatedCall, Verdict};

impl ToolCall {
    /// A fact arrived; none: it could not be found, which counts as ask.
    pub fn fact_found(&mut self, ctx: &mut Context, found: Fact, answer: Option<Found>) {
        match &mut self.stage {
            Stage::Deciding { run, facts, fact, since_ms } if *fact == found => {
                let (mut run, mut facts) = (*run, std::mem::take(facts));
                // The judge's time is none of the tool's.
                run.asked_ms += ctx.now_ms.saturating_sub(*since_ms);
                if found == Fact::Judge {
                    let judged = match &answer {
                        Some(Found::Judge(judged)) => judged.clone(),
                        _ => Judged::Failed("no answer".to_owned()),
                    };
                    ctx.emit(Effect::EndJudge { chat: ctx.chat, call: self.id, judged: Some(judged) });
                }
                facts.take(found, answer);
                self.decide(ctx, run, facts);
            }
            _ => self.ignore_late(ctx),
        }
    }

    /// A fact did not come in time.
    pub(super) fn fact_is_late(&mut self, ctx: &mut Context, fact: Fact) {
        let late = || Found::Judge(Judged::Failed(format!("no answer in {} s", FACT_LIMIT_MS / 1_000)));
        self.fact_found(ctx, fact, (fact == Fact::Judge).then(late));
    }

    pub(super) fn decide(&mut self, ctx: &mut Context, run: Run, facts: Facts) {
        let settings = run.preparation.gate;
        let call = GatedCall {
            tool: &self.name,
            settings,
            repeated: self.repeated,
            auto: ctx.auto,
            waived: self.carried.waived,
            scope: ctx.settings.scope(),
            rules: ctx.permissions.map(|permissions| &permissions.rules),
        };
        let fact = match gate::decide(&call, ctx.approvals, &facts) {
            Verdict::Allow => return self.let_through(ctx, run),
            Verdict::Deny(why) => return self.end(ctx, run, End::Denied(why), 0),
            Verdict::Ask(question) => {
                let remember = (question.remember.clone(), question.scope);
                self.stage = Stage::Asking { run, since_ms: ctx.now_ms, remember };
                return ctx.emit(Effect::AskApproval { chat: ctx.chat, call: self.id, question, rest: ctx.rest });
            }
            Verdict::Need(fact) => fact,
        };
        let (chat, call) = (ctx.chat, self.id);
        let asked = facts.asked();
        let own = || facts.approval(&self.name, settings).map(|approval| vec![approval]);
        let approvals = if asked.is_empty() { own() } else { Some(asked) };
        let saved = approvals.zip(ctx.settings.project.clone());
        let permissions = ctx.permissions.cloned();
        self.stage = Stage::Deciding { run, facts, fact, since_ms: ctx.now_ms };
        match (fact, saved) {
            (Fact::Judge, _) => ctx.emit(Effect::AskJudge { chat, call }),
            (Fact::Rules, _) => ctx.emit(Effect::LoadPermissions { chat, call }),
            (Fact::Pairs, _) => match permissions {
                Some(permissions) => ctx.emit(Effect::FindPairs { chat, call, permissions }),
                None => self.fact_found(ctx, fact, None),
            },
            (Fact::Saved, Some((approvals, project))) => {
                ctx.emit(Effect::FindSaved { chat, call, project, approvals });
            }
            // It is needed only where there is a project, and after the command.
            (Fact::Saved, None) => self.fact_found(ctx, fact, None),
            (Fact::OwnApproval | Fact::CmdString | Fact::IsSafe | Fact::JudgeContext, _) => {
                ctx.emit(Effect::FindFact { chat, call, fact });
            }
        }
    }

    /// The user answered. Returns true when the rest of the batch is cancelled with it.
    pub fn answered(&mut self, ctx: &mut Context, answer: Answer) -> bool {
        let Stage::Asking { run, since_ms, remember } = &mut self.stage else {
            self.ignore_late(ctx);
            return false;
        };
        let (mut run, (remember, scope)) = (*run, (std::mem::take(&mut remember.0), remember.1));
        run.asked_ms += ctx.now_ms.saturating_sub(*since_ms);
        ctx.emit(Effect::CloseQuestion { chat: ctx.chat, call: self.id });
        match answer {
            // Where nothing can be remembered (the third identical call in a row), it is this call only.
            Answer::Always { pattern } => {
                let project = ctx.settings.project.clone().filter(|_| scope == Scope::Project);
                for approval in with_pattern(remember, pattern) {
                    match &project {
                        Some(project) => ctx.emit(Effect::SaveApproval { project: project.clone(), approval }),
                        None => ctx.approvals.remember(approval, ctx.now_ms),
                    }
                }
                self.let_through(ctx, run);
            }
            Answer::Accept => self.let_through(ctx, run),
            Answer::Reject { reason } => self.end(ctx, run, End::Rejected(reason), 0),
            Answer::Cancel => {
                self.end(ctx, run, End::Cancelled, 0);
                return true;
            }
        }
        false
    }

    /// The permission rules are there, or are others now.
    pub fn permissions_loaded(&mut self, ctx: &mut Context) {
        if matches!(self.stage, Stage::Deciding { fact: Fact::Rules, .. }) {
            self.fact_found(ctx, Fact::Rules, Some(Found::Rules));
        }
    }

    fn let_through(&mut self, ctx: &mut Context, run: Run) {
        self.carried.waived = true;
        self.run(ctx, run, 0);
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
