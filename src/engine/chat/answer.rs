//! What the model answers: pieces as they arrive, then calls whose arguments are checked before they run.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Chat, Step};
use crate::adapter::{EndReason, Item};
use crate::engine::call::ToolCall;
use crate::engine::effect::{CallEffect, ChatEffect, LogLevel, Notice, TurnEnd};
use crate::engine::event::{Failure, RequestEvent, RequestId};
use crate::engine::outcome::unknown_tool;
use crate::engine::turn::batch::Batch;
use crate::engine::turn::{Answering, Checking, Draft, Turn, looks_like_call};
use crate::message::{Call, Message};
use crate::tool::{ArgumentsError, CheckedCall, OfferedTool, Reach, UncheckedCall};

/// How often in a row an answer may pause while the provider runs its own tools.
const MAX_PAUSES: u32 = 20;

impl Chat {
    /// Something about a request. Only that of the answer that is awaited counts.
    pub(super) fn request_event(&mut self, step: &mut Step, request: RequestId, event: RequestEvent) {
        let answering = match std::mem::take(&mut self.turn) {
            Turn::Answering(answering) if answering.request == request => answering,
            other => {
                self.turn = other;
                return ignore_late_request(step, request, &event);
            }
        };
        match event {
            RequestEvent::Started { tools } => self.turn = Turn::Answering(Answering { tools, ..answering }),
            RequestEvent::Items(items) => self.answer(step, answering, items),
            RequestEvent::Noted { text } => self.note(step, answering, Notice::Request(text)),
            RequestEvent::Retried(retry) => self.note(step, answering, Notice::Retrying(retry)),
            RequestEvent::Finished => self.request_finished(step, answering),
            RequestEvent::Failed(failure) => self.request_failed(step, answering, failure),
        }
    }

    fn note(&mut self, step: &mut Step, answering: Answering, notice: Notice) {
        self.turn = Turn::Answering(answering);
        step.notify(notice);
    }

    /// Pieces of an answer. One of them may be the request's failure.
    fn answer(&mut self, step: &mut Step, mut answering: Answering, items: Vec<Item>) {
        for item in items {
            if !answering.take(&item) {
                step.log(LogLevel::Warn, "arguments of a call that never began were dropped".to_owned());
            }
            match item {
                Item::Text(text) => step.emit(ChatEffect::ShowText { text }),
                Item::Reasoning(text) => step.emit(ChatEffect::ShowReasoning { text }),
                Item::Ran(call) => step.emit(ChatEffect::ShowProviderCall(call)),
                Item::Failed(message) => {
                    // What else the server says is not wanted any more.
                    step.emit(ChatEffect::AbortRequest { request: answering.request });
                    return self.request_failed(step, answering, message.into());
                }
                Item::CallStarted { .. }
                | Item::Opaque(_)
                | Item::CallArguments { .. }
                | Item::CallExtra { .. }
                | Item::Usage { .. }
                | Item::End { .. } => {}
            }
        }
        self.turn = Turn::Answering(answering);
    }

    /// An answer is complete.
    fn request_finished(&mut self, step: &mut Step, answering: Answering) {
        self.finish_request(step, &answering, false);
        let Answering { tools, content, reasoning, drafts, opaque, end, .. } = answering;
        if end == Some(EndReason::Paused) && drafts.is_empty() && opaque.is_some() && self.pauses < MAX_PAUSES {
            self.pauses += 1;
            self.keep_text(step, content, reasoning, opaque);
            return self.send(step);
        }
        self.pauses = 0;
        match end {
            Some(EndReason::Length) => step.notify(Notice::LengthStop),
            Some(EndReason::ContentFilter(why)) => step.notify(Notice::ContentFilter(why)),
            Some(EndReason::Refused(why)) => step.notify(Notice::Refused(why)),
            Some(EndReason::Other(why)) => step.notify(Notice::EndedFor(why)),
            Some(EndReason::Paused) => step.notify(Notice::EndedFor("pause".to_owned())),
            None | Some(EndReason::Stop | EndReason::ToolCalls) => {}
        }
        if drafts.is_empty() {
            if looks_like_call(&content, &tools) {
                step.notify(Notice::CallAsText);
            }
            self.keep_text(step, content, reasoning, opaque);
            if !self.run_requested(step) {
                self.finish_turn(step, TurnEnd::Done);
            }
        } else {
            self.check(step, Checking { content, reasoning, opaque, calls: Vec::new(), tools, submit: true }, drafts);
        }
    }

    /// No (complete) answer.
    fn request_failed(&mut self, step: &mut Step, answering: Answering, failure: Failure) {
        self.finish_request(step, &answering, true);
        self.keep_text(step, answering.content, answering.reasoning, None);
        step.notify(Notice::RequestFailed(failure));
        self.finish_turn(step, TurnEnd::Failed);
    }

    pub(super) fn finish_request(&self, step: &mut Step, answering: &Answering, failed: bool) {
        let Answering { request, usage, .. } = *answering;
        step.emit(ChatEffect::FinishRequest { request, failed, usage });
    }

    /// Gives calls their ids and sends them to be checked.
    pub(super) fn check(&mut self, step: &mut Step, mut checking: Checking, drafts: Vec<Draft>) {
        let tools: HashMap<&str, &OfferedTool> = checking.tools.iter().map(|tool| (tool.name.as_str(), tool)).collect();
        let mut unchecked = Vec::with_capacity(drafts.len());
        for mut draft in drafts {
            if draft.wire_id.is_empty() || !self.wire_ids.insert(draft.wire_id.clone()) {
                draft.wire_id = loop {
                    let id = step.ids.made();
                    if self.wire_ids.insert(id.clone()) {
                        break id;
                    }
                };
            }
            let call = step.ids.call();
            let tool = tools.get(draft.name.as_str());
            unchecked.push(UncheckedCall {
                call,
                schema: tool.and_then(|tool| tool.schema),
                numeric_strings: tool.is_some_and(|tool| tool.numeric_strings),
                keeps_arguments: tool.is_some_and(|tool| tool.keeps_arguments),
                arguments: draft.arguments.clone(),
                route: tool.filter(|tool| tool.reach == Reach::Router).map(|_| Arc::clone(&checking.tools)),
            });
            checking.calls.push((call, draft));
        }
        self.turn = Turn::Checking(checking);
        step.emit(ChatEffect::CheckCalls { calls: unchecked });
    }

    /// Arguments were checked: the answer joins the history, its calls run.
    pub(super) fn calls_checked(&mut self, step: &mut Step, checked: Vec<CheckedCall>) {
        let checking = match std::mem::take(&mut self.turn) {
            Turn::Checking(checking)
                if checking.calls.len() == checked.len()
                    && checking.calls.iter().zip(&checked).all(|((call, _), found)| *call == found.call) =>
            {
                checking
            }
            other => {
                self.turn = other;
                return step.ignore_late("check");
            }
        };
        let Checking { content, reasoning, opaque, calls: drafts, tools, submit } = checking;
        let offered: HashMap<&str, &OfferedTool> = tools.iter().map(|tool| (tool.name.as_str(), tool)).collect();
        let mut calls = Vec::with_capacity(drafts.len());
        let mut queue = Vec::with_capacity(drafts.len());
        for ((id, draft), checked) in drafts.into_iter().zip(checked) {
            let usable = match checked.arguments {
                Ok(_) | Err(ArgumentsError::DoesNotFit(_)) => true,
                // What the router got is an object, whatever is in it.
                Err(ArgumentsError::NotAnObject(_) | ArgumentsError::NotChecked(_)) => checked.runs.is_some(),
            };
            let name = checked.runs.clone().unwrap_or_else(|| draft.name.clone());
            let blank = draft.arguments.trim().is_empty() || draft.arguments.trim() == "[]";
            let tool = offered.get(name.as_str());
            calls.push(Call {
                wire_id: draft.wire_id.clone(),
                name: draft.name.clone(),
                arguments: if usable && !blank { draft.arguments } else { "{}".to_owned() },
                extra: draft.extra,
            });
            let fingerprint = checked.fingerprint;
            let arguments = match (tool, checked.arguments) {
                (None, _) => Err(unknown_tool(&draft.name, &tools)),
                (Some(_), Ok(arguments)) => Ok(arguments),
                (Some(_), Err(error)) => Err(error.to_string()),
            };
            let mut call = ToolCall::new(id, draft.wire_id, name, fingerprint, arguments);
            call.parallel = tool.is_some_and(|tool| tool.parallel && !tool.handlers_once);
            call.handlers_once = tool.is_some_and(|tool| tool.handlers_once);
            if let Some(kept) = checked.kept {
                call.keep_arguments(kept);
            }
            queue.push(call);
        }
        let added: Vec<_> = calls.iter().cloned().zip(queue.iter().map(|call| (call.id, call.name.clone()))).collect();
        self.add_message(step, Message::Llm { content, reasoning, calls, opaque });
        for (call, (id, runs)) in added {
            let Call { wire_id, name, arguments, extra: _ } = call;
            let runs = Some(runs).filter(|runs| *runs != name);
            step.emit(ChatEffect::Call { call: id, effect: CallEffect::AddCall { wire_id, name, arguments, runs } });
        }
        step.emit(ChatEffect::StartBatch { calls: queue.len() });
        self.turn = Turn::Running(Batch::new(queue, submit));
        self.with_batch(step, |_, _| {});
    }
}

/// For a request that nobody waits for. One that starts only now is ended: a stop came before it was on its way (a key took
/// its time), when there was nothing to end.
fn ignore_late_request(step: &mut Step, request: RequestId, event: &RequestEvent) {
    step.ignore_late(format_args!("request {}", request.0));
    match event {
        RequestEvent::Started { .. } => step.emit(ChatEffect::AbortRequest { request }),
        RequestEvent::Items(_) | RequestEvent::Noted { .. } | RequestEvent::Retried(_) => {}
        RequestEvent::Finished | RequestEvent::Failed(_) => {}
    }
}
