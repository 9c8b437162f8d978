//! The cmds of a call, one after the other, and its output functions.

use super::{Abort, Context, End, Prepared, Stage, ToolCall};
use crate::engine::effect::{CallEffect, Output};
use crate::engine::event::{OutputOutcome, Report};
use crate::engine::outcome::threw;
use crate::tool::Runner;

impl ToolCall {
    /// Runs a cmd; behind the last one the call has succeeded.
    pub(super) fn run_cmd(&mut self, ctx: &mut Context, prepared: Prepared, cmd: usize) -> Stage {
        let Some(runner) = prepared.preparation.cmds.get(cmd).cloned() else {
            return self.exit(ctx, prepared, End::Success);
        };
        let arguments = match runner {
            Runner::Lua | Runner::Command => None,
            Runner::BuiltIn(_) | Runner::Remote(_) => self.arguments.clone(),
        };
        self.emit(ctx, CallEffect::RunCmd { cmd, runner, arguments });
        Stage::Running { prepared, cmd, in_process: false }
    }

    /// A function of the cmds has its result, or a command could not even start.
    pub(super) fn cmd_finished(&mut self, ctx: &mut Context, prepared: Prepared, cmd: usize, succeeded: bool) -> Stage {
        // It had the text of the command before it as its input, and stands for it.
        self.unsaid.clear();
        self.proceed(ctx, prepared, cmd, succeeded)
    }

    /// The process of a command is over.
    pub(super) fn command_finished(
        &mut self,
        ctx: &mut Context,
        prepared: Prepared,
        cmd: usize,
        succeeded: bool,
        report: Report,
    ) -> Stage {
        let Report { text, files, .. } = report;
        self.files.extend(files);
        let defines = prepared.preparation.defines;
        if !succeeded {
            self.unsaid.clear();
        }
        if !(if succeeded { defines.success } else { defines.error }) {
            self.unsaid.push(text.clone());
        }
        self.emit(ctx, CallEffect::StoreText { cmd, succeeded, text });
        self.proceed(ctx, prepared, cmd, succeeded)
    }

    fn proceed(&mut self, ctx: &mut Context, prepared: Prepared, cmd: usize, succeeded: bool) -> Stage {
        if !succeeded {
            self.end(ctx, prepared, End::Error(None), cmd)
        } else if prepared.preparation.defines.success {
            self.emit(ctx, CallEffect::RunOutput { output: Output::Success { cmd } });
            Stage::Succeeding { prepared, cmd, abort: None }
        } else {
            self.run_cmd(ctx, prepared, cmd + 1)
        }
    }

    /// The process that was to be ended is over.
    pub(super) fn command_stopped(
        &mut self,
        ctx: &mut Context,
        prepared: Prepared,
        cmd: usize,
        abort: Abort,
        report: Report,
    ) -> Stage {
        self.stopped = Some(report).filter(|report| !report.text.is_empty());
        self.end(ctx, prepared, End::Aborted(abort), cmd)
    }

    /// `output.success` is over.
    pub(super) fn success_told(
        &mut self,
        ctx: &mut Context,
        prepared: Prepared,
        cmd: usize,
        abort: Option<Abort>,
        outcome: OutputOutcome,
    ) -> Stage {
        match (outcome, abort) {
            (OutputOutcome::Threw(error), _) => {
                let end = End::Error(Some(threw(&self.name, &error)));
                self.exit(ctx, prepared, end)
            }
            (OutputOutcome::Ran | OutputOutcome::Undefined, Some(why)) => {
                self.end(ctx, prepared, End::Aborted(why), cmd)
            }
            (OutputOutcome::Ran | OutputOutcome::Undefined, None) => self.run_cmd(ctx, prepared, cmd + 1),
        }
    }

    /// The last output function is over.
    pub(super) fn end_told(
        &mut self,
        ctx: &mut Context,
        mut prepared: Prepared,
        mut end: End,
        outcome: OutputOutcome,
    ) -> Stage {
        match outcome {
            OutputOutcome::Ran => {}
            OutputOutcome::Undefined => prepared.preparation.defines.cancelled = false,
            OutputOutcome::Threw(error) => {
                let error = threw(&self.name, &error);
                if let End::Error(_) = end {
                    end = End::Error(Some(error));
                } else {
                    // It may have said nothing of the end, so that the default does: the user's reason must get through.
                    let defines = &mut prepared.preparation.defines;
                    (defines.error, defines.rejected, defines.cancelled) = (false, false, false);
                    self.added.push(error);
                }
            }
        }
        self.exit(ctx, prepared, end)
    }
}
