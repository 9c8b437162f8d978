//! A call at the gate: facts come in, it is decided, the user answers. What is decided is `gate.rs`'s.

use super::{Context, End, Run, Stage, ToolCall};
use crate::engine::{Answer, Effect};
use crate::gate::approvals::Scope;
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
        };
        let fact = match gate::decide(&call, ctx.approvals, &facts) {
            Verdict::Allow => return self.let_through(ctx, run),
            Verdict::Deny(why) => return self.end(ctx, run, End::Denied(why), 0),
            Verdict::Ask(question) => {
                let remember = question.remember.clone();
                self.stage = Stage::Asking { run, since_ms: ctx.now_ms, remember };
                return ctx.emit(Effect::AskApproval { chat: ctx.chat, call: self.id, question, rest: ctx.rest });
            }
            Verdict::Need(fact) => fact,
        };
        let (chat, call) = (ctx.chat, self.id);
        let saved = facts.approval(&self.name, settings).zip(ctx.settings.project.clone());
        self.stage = Stage::Deciding { run, facts, fact, since_ms: ctx.now_ms };
        match (fact, saved) {
            (Fact::Judge, _) => ctx.emit(Effect::AskJudge { chat, call }),
            (Fact::Saved, Some((approval, project))) => ctx.emit(Effect::FindSaved { chat, call, project, approval }),
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
        let (mut run, remember) = (*run, remember.take());
        run.asked_ms += ctx.now_ms.saturating_sub(*since_ms);
        ctx.emit(Effect::CloseQuestion { chat: ctx.chat, call: self.id });
        match answer {
            // Where nothing can be remembered (the third identical call in a row), it is this call only.
            Answer::Always => {
                match (remember, &ctx.settings.project) {
                    (Some((approval, Scope::Project)), Some(project)) => {
                        let project = project.clone();
                        ctx.emit(Effect::SaveApproval { project, approval });
                    }
                    (Some((approval, _)), _) => ctx.approvals.remember(approval, ctx.now_ms),
                    (None, _) => {}
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

    fn let_through(&mut self, ctx: &mut Context, run: Run) {
        self.carried.waived = true;
        self.run(ctx, run, 0);
    }
}
