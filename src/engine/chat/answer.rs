//! What the model answers: pieces as they arrive, then calls whose arguments are checked before they run.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Chat, Shell};
use crate::adapter::{EndReason, Item};
use crate::engine::call::ToolCall;
use crate::engine::effect::{Effect, LogLevel, Notice, TurnEnd};
use crate::engine::event::RequestId;
use crate::engine::turn::batch::Batch;
use crate::engine::turn::{Answering, Checking, Draft, Turn, looks_like_call};
use crate::message::{Call, Message};
use crate::tool::{ArgumentsError, CheckedCall, OfferedTool, Reach, UncheckedCall, shown};

/// How often in a row an answer may pause while the provider runs its own tools.
const MAX_PAUSES: u32 = 20;

impl Chat {
    /// A request is on its way.
    pub fn request_started(&mut self, shell: &mut Shell, request: RequestId, tools: Arc<[OfferedTool]>) {
        match &mut self.turn {
            Turn::Answering(answering) if answering.request == request => answering.tools = tools,
            Turn::Idle | Turn::TakingInput { .. } | Turn::Answering(_) | Turn::Checking(_) | Turn::Running(_) => {
                self.ignore_late(shell, "request");
                // A stop came before it was on its way (a key took its time): there was nothing to end then.
                shell.effects.push(Effect::AbortRequest { chat: self.id, request });
            }
        }
    }

    /// Pieces of an answer. One of them may be the request's failure.
    pub fn request_items(&mut self, shell: &mut Shell, request: RequestId, items: Vec<Item>) {
        let chat = self.id;
        match &mut self.turn {
            Turn::Answering(answering) if answering.request == request => {
                for item in items {
                    if !answering.take(&item) {
                        let text = "arguments of a call that never began were dropped".to_owned();
                        shell.effects.push(Effect::Log { level: LogLevel::Warn, text });
                    }
                    match item {
                        Item::Text(text) => shell.effects.push(Effect::ShowText { chat, text }),
                        Item::Reasoning(text) => shell.effects.push(Effect::ShowReasoning { chat, text }),
                        Item::Failed(message) => {
                            // What else the server says is not wanted any more.
                            shell.effects.push(Effect::AbortRequest { chat, request });
                            return self.request_failed(shell, request, message);
                        }
                        Item::Ran(call) => shell.effects.push(Effect::ShowProviderCall { chat, call }),
                        Item::CallStarted { .. }
                        | Item::Opaque(_)
                        | Item::CallArguments { .. }
                        | Item::CallExtra { .. }
                        | Item::Usage { .. }
                        | Item::End { .. } => {}
                    }
                }
            }
            _ => self.ignore_late(shell, "answer"),
        }
    }

    /// Something about a request for the user.
    pub fn request_noted(&mut self, shell: &mut Shell, request: RequestId, notice: Notice) {
        match &self.turn {
            Turn::Answering(answering) if answering.request == request => self.notify(shell, notice),
            _ => self.ignore_late(shell, "note"),
        }
    }

    /// An answer is complete.
    pub fn request_finished(&mut self, shell: &mut Shell, request: RequestId) {
        let Some(answering) = self.take_answering(request) else { return self.ignore_late(shell, "answer") };
        self.finish_request(shell, &answering, false);
        let Answering { tools, content, reasoning, drafts, opaque, end, .. } = answering;
        if end == Some(EndReason::Paused) && drafts.is_empty() && opaque.is_some() && self.pauses < MAX_PAUSES {
            self.pauses += 1;
            self.keep_text(shell, content, reasoning, opaque);
            return self.send(shell);
        }
        self.pauses = 0;
        match end {
            Some(EndReason::Length) => self.notify(shell, Notice::LengthStop),
            Some(EndReason::ContentFilter) => self.notify(shell, Notice::ContentFilter),
            None | Some(EndReason::Stop | EndReason::ToolCalls | EndReason::Paused | EndReason::Other(_)) => {}
        }
        if drafts.is_empty() {
            if looks_like_call(&content, &tools) {
                self.notify(shell, Notice::CallAsText);
            }
            self.keep_text(shell, content, reasoning, opaque);
            if !self.run_requested(shell) {
                self.finish_turn(shell, TurnEnd::Done);
            }
        } else {
            self.check(shell, Checking { content, reasoning, opaque, calls: Vec::new(), tools, submit: true }, drafts);
        }
    }

    /// No (complete) answer.
    pub fn request_failed(&mut self, shell: &mut Shell, request: RequestId, message: String) {
        let Some(answering) = self.take_answering(request) else { return self.ignore_late(shell, "failure") };
        self.finish_request(shell, &answering, true);
        self.keep_text(shell, answering.content, answering.reasoning, None);
        self.notify(shell, Notice::RequestFailed(message));
        self.finish_turn(shell, TurnEnd::Failed);
    }

    pub(super) fn take_answering(&mut self, request: RequestId) -> Option<Answering> {
        match std::mem::replace(&mut self.turn, Turn::Idle) {
            Turn::Answering(answering) if answering.request == request => Some(answering),
            other => {
                self.turn = other;
                None
            }
        }
    }

    pub(super) fn finish_request(&self, shell: &mut Shell, answering: &Answering, failed: bool) {
        let Answering { request, usage, .. } = *answering;
        shell.effects.push(Effect::FinishRequest { chat: self.id, request, failed, usage });
    }

    /// Gives calls their ids and sends them to be checked.
    pub(super) fn check(&mut self, shell: &mut Shell, mut checking: Checking, drafts: Vec<Draft>) {
        let tools: HashMap<&str, &OfferedTool> = checking.tools.iter().map(|tool| (tool.name.as_str(), tool)).collect();
        let mut unchecked = Vec::with_capacity(drafts.len());
        for mut draft in drafts {
            if draft.wire_id.is_empty() || !self.wire_ids.insert(draft.wire_id.clone()) {
                draft.wire_id = loop {
                    let id = shell.ids.made();
                    if self.wire_ids.insert(id.clone()) {
                        break id;
                    }
                };
            }
            let call = shell.ids.call();
            let tool = tools.get(draft.name.as_str());
            unchecked.push(UncheckedCall {
                call,
                schema: tool.and_then(|tool| tool.schema),
                numeric_strings: tool.is_some_and(|tool| tool.numeric_strings),
                arguments: draft.arguments.clone(),
                route: tool.filter(|tool| tool.reach == Reach::Router).map(|_| Arc::clone(&checking.tools)),
            });
            checking.calls.push((call, draft));
        }
        self.turn = Turn::Checking(checking);
        shell.effects.push(Effect::CheckCalls { chat: self.id, calls: unchecked });
    }

    /// Arguments were checked: the answer joins the history, its calls run.
    pub fn calls_checked(&mut self, shell: &mut Shell, checked: Vec<CheckedCall>) {
        let checking = match std::mem::replace(&mut self.turn, Turn::Idle) {
            Turn::Checking(checking)
                if checking.calls.len() == checked.len()
                    && checking.calls.iter().zip(&checked).all(|((call, _), found)| *call == found.call) =>
            {
                checking
            }
            other => {
                self.turn = other;
                return self.ignore_late(shell, "check");
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
                (None, _) => Err(not_found(&draft.name, &tools)),
                (Some(_), Ok(arguments)) => Ok(arguments),
                (Some(_), Err(error)) => Err(error.to_string()),
            };
            let mut call = ToolCall::new(id, draft.wire_id, name, fingerprint, arguments);
            call.parallel = tool.is_some_and(|tool| tool.parallel && !tool.handlers_once);
            call.handlers_once = tool.is_some_and(|tool| tool.handlers_once);
            queue.push(call);
        }
        let added: Vec<_> = calls.iter().cloned().zip(queue.iter().map(|call| (call.id, call.name.clone()))).collect();
        self.add_message(shell, Message::Llm { content, reasoning, calls, opaque });
        for (call, (id, runs)) in added {
            let Call { wire_id, name, arguments, extra: _ } = call;
            let runs = Some(runs).filter(|runs| *runs != name);
            shell.effects.push(Effect::AddCall { chat: self.id, call: id, wire_id, name, arguments, runs });
        }
        shell.effects.push(Effect::StartBatch { chat: self.id, calls: queue.len() });
        self.turn = Turn::Running(Batch::new(queue, submit));
        self.with_batch(shell, |_, _| true);
    }
}

/// R030: what the model is told when it calls a tool that this chat does not offer.
fn not_found(name: &str, tools: &[OfferedTool]) -> String {
    /// So many names are told. Each wrong call tells them again.
    const MAX_NAMES: usize = 50;
    let name = shown(name);
    let names: Vec<_> = tools.iter().take(MAX_NAMES).map(|tool| format!("`{}`", shown(&tool.name))).collect();
    let more = match tools.len() - names.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    match names.len() {
        0 => format!("Tool \"{name}\" not found. No tools are available in this chat."),
        _ => format!("Tool \"{name}\" not found. Available tools: {}{more}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r030_the_answer_to_an_unknown_tool_is_short_whatever_its_name_and_however_many_there_are() {
        let offered = |count: usize| -> Vec<OfferedTool> {
            let name = |number: usize| format!("tool_{number}");
            let tool = |number| OfferedTool {
                name: name(number),
                schema: None,
                numeric_strings: false,
                parallel: false,
                handlers_once: false,
                reach: Reach::Direct,
            };
            (1..=count).map(tool).collect()
        };
        let text = not_found(&"é".repeat(1_000_000), &offered(2));
        assert_eq!(text, format!("Tool \"{}…\" not found. Available tools: `tool_1`, `tool_2`", "é".repeat(100)));
        assert!(not_found(&"é".repeat(100), &[]).starts_with(&format!("Tool \"{}\" not found.", "é".repeat(100))));
        assert!(not_found("x", &offered(50)).ends_with(", `tool_49`, `tool_50`"));
        assert!(not_found("x", &offered(1234)).ends_with(", `tool_49`, `tool_50`, and 1184 more"));
    }
}
