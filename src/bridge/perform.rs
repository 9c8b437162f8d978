//! Effects become calls of the performers, the Lua functions of `chat/effects.lua`; what they return becomes events. Which
//! effects there are, and in which order, is the engine's business.

use std::time::Instant;

use mlua::{FromLuaMulti, Function, IntoLuaMulti, Lua, MultiValue, Value};

use super::fields::{Fields, exact_text, integer, text};
use super::permissions::{self, Asked};
use super::replies::Make;
use super::unfold::{JsonMarks, Unfolding};
use crate::engine::effect::{CallEffect, ChatEffect, Effect, LogLevel, Notice, Output, TurnEnd};
use crate::engine::event::{Answer, CallEvent, ChatEvent, ChatId, Event, OutputOutcome, Retry};
use crate::engine::restore::{Body, Look};
use crate::error::{Error, OUR_FAULT};
use crate::gate::{Cause, Fact, Found};
use crate::message::Message;
use crate::runtime::Runtime;
use crate::tool::{CallId, Copying, Defined, GateSettings, OwnApproval, Preparation};

macro_rules! performers {
    ($($name:ident)*) => {
        /// The functions that `start` was given.
        struct Functions {
            $($name: Function,)*
        }

        impl Functions {
            fn read(fields: &Fields) -> Result<Self, Error> {
                Ok(Self { $($name: fields.function(stringify!($name))?,)* })
            }
        }
    };
}

performers! {
    take_input hold_input start_turn send_request finish_request show_text show_reasoning show_provider_call add_message take_back_message
    cut_history add_call start_batch finish_batch prepare_call find_fact load_permissions find_wants ask_judge end_judge
    ask_approval close_question run_cmd
    store_text kill_jobs run_output run_exit restore_message restore_call reply finish_call notify tell finish_turn clear_chat
    close_chat log
}

/// Performs effects. Only the main thread has one.
pub struct Performers {
    functions: Functions,
    /// What null and `{}` are in Lua, for arguments.
    marks: JsonMarks,
}

/// A performer that threw, or returned something that it must not.
#[derive(Debug, thiserror::Error)]
pub enum PerformError {
    /// It threw.
    #[error("{performer}: {source}")]
    Threw {
        /// The performer.
        performer: &'static str,
        /// With the traceback.
        source: mlua::Error,
    },
    /// It returned what no event can be made of.
    #[error("{performer}: returned {given} where {wanted} is wanted")]
    Returned {
        /// The performer.
        performer: &'static str,
        /// What is wanted.
        wanted: &'static str,
        /// What it returned.
        given: String,
    },
}

impl Performers {
    /// Reads the table given to `start`: all of the functions, and nothing else.
    pub fn read(lua: &Lua, table: Value) -> Result<Self, Error> {
        let fields = Fields::new("start", table)?;
        let functions = Functions::read(&fields)?;
        fields.finish()?;
        let marks = JsonMarks::read(lua).map_err(|error| Error::Lua { export: "start", source: error.into() })?;
        Ok(Self { functions, marks })
    }

    /// Writes a line to the log. Where even that throws there is nobody left to tell.
    pub fn log(&self, level: LogLevel, text: &str) {
        let _ = self.functions.log.call::<()>((level_word(level), text));
    }

    /// Performs one effect. Some: the reply for the engine.
    pub fn perform(&self, runtime: &Runtime, effect: Effect) -> Result<Option<Event>, PerformError> {
        let lua_fn = &self.functions;
        match effect {
            Effect::Addressed { chat, effect: ChatEffect::Call { call, effect } } => {
                let reply = self.perform_call(runtime, chat, call, effect)?;
                return Ok(reply.map(|event| Event::call(chat, call, event)));
            }
            Effect::Addressed { chat, effect } => {
                return Ok(self.perform_chat(runtime, chat, effect)?.map(|event| Event::chat(chat, event)));
            }
            Effect::SaveApproval { project, approval } => runtime.save_approval(project, approval),
            Effect::Tell { text } => call("tell", &lua_fn.tell, text)?,
            Effect::Log { level, text } => self.log(level, &text),
        }
        Ok(None)
    }

    fn perform_chat(
        &self,
        runtime: &Runtime,
        chat: ChatId,
        effect: ChatEffect,
    ) -> Result<Option<ChatEvent>, PerformError> {
        let lua_fn = &self.functions;
        match effect {
            // It has a performer of its own.
            ChatEffect::Call { .. } => {}
            ChatEffect::TakeInput => {
                let (text, typed): (Value, Value) = call("take_input", &lua_fn.take_input, chat.0)?;
                let (text, typed) = (optional_text("take_input", &text)?, optional_text("take_input", &typed)?);
                let typed = typed.filter(|typed| text.as_ref() != Some(typed));
                return Ok(Some(ChatEvent::InputTaken { text, typed }));
            }
            ChatEffect::HoldInput { waiting } => call("hold_input", &lua_fn.hold_input, (chat.0, waiting))?,
            ChatEffect::StartTurn => call("start_turn", &lua_fn.start_turn, chat.0)?,
            ChatEffect::SendRequest { request } => call("send_request", &lua_fn.send_request, (chat.0, request.0))?,
            ChatEffect::AbortRequest { request } => runtime.abort(request),
            ChatEffect::FinishRequest { request, failed, usage } => {
                let (input, output) = usage.unzip();
                call("finish_request", &lua_fn.finish_request, (chat.0, request.0, failed, input, output))?
            }
            ChatEffect::ShowText { text } => call("show_text", &lua_fn.show_text, (chat.0, text.as_str()))?,
            ChatEffect::ShowReasoning { text } => {
                call("show_reasoning", &lua_fn.show_reasoning, (chat.0, text.as_str()))?
            }
            ChatEffect::ShowProviderCall(ran) => {
                let arguments = (chat.0, ran.name.as_str(), ran.label.as_str(), ran.output.as_str(), ran.is_error);
                call("show_provider_call", &lua_fn.show_provider_call, arguments)?
            }
            ChatEffect::AddMessage { message } => self.message("add_message", &lua_fn.add_message, chat, &message)?,
            ChatEffect::TakeBackMessage => call("take_back_message", &lua_fn.take_back_message, chat.0)?,
            ChatEffect::TruncateHistory { kept } => call("cut_history", &lua_fn.cut_history, (chat.0, kept))?,
            ChatEffect::RestoreMessage { message } => {
                self.message("restore_message", &lua_fn.restore_message, chat, &message)?;
            }
            ChatEffect::RestoreCall { message, index, result, look } => {
                self.restore_call(chat, (&message, index), &result, look.unwrap_or_default())?;
            }
            ChatEffect::CheckCalls { calls } => runtime.check_calls(chat, calls),
            ChatEffect::StartBatch { calls } => call("start_batch", &lua_fn.start_batch, (chat.0, calls))?,
            ChatEffect::FinishBatch { failed } => call("finish_batch", &lua_fn.finish_batch, (chat.0, failed))?,
            ChatEffect::Notify(notice) => {
                let (kind, text) = notice_words(&notice);
                let numbers = match &notice {
                    Notice::Retrying(Retry { attempt, of, wait_ms, .. }) => (Some(*attempt), Some(*of), Some(*wait_ms)),
                    _ => (None, None, None),
                };
                call("notify", &lua_fn.notify, (chat.0, kind, text, numbers.0, numbers.1, numbers.2))?
            }
            ChatEffect::FinishTurn { end } => call("finish_turn", &lua_fn.finish_turn, (chat.0, end_word(end)))?,
            ChatEffect::ClearChat => call("clear_chat", &lua_fn.clear_chat, chat.0)?,
            ChatEffect::CloseChat => {
                runtime.end_chat(chat);
                call("close_chat", &lua_fn.close_chat, chat.0)?
            }
        }
        Ok(None)
    }

    fn perform_call(
        &self,
        runtime: &Runtime,
        chat: ChatId,
        id: CallId,
        effect: CallEffect,
    ) -> Result<Option<CallEvent>, PerformError> {
        let lua_fn = &self.functions;
        match effect {
            CallEffect::AddCall { wire_id, name, arguments, runs } => {
                let arguments = (chat.0, id.0, wire_id.as_str(), name.as_str(), arguments.as_str(), runs.as_deref());
                call("add_call", &lua_fn.add_call, arguments)?
            }
            // Its arguments may take long: the pump turns them into Lua in slices, then calls `prepare`.
            CallEffect::PrepareCall { .. } => {}
            CallEffect::FindFact { fact } => {
                let given: Value = call("find_fact", &lua_fn.find_fact, (chat.0, id.0, fact_word(fact)))?;
                let found = found(fact, &given)?;
                return Ok(Some(CallEvent::FactFound { fact, found }));
            }
            CallEffect::LoadPermissions => call("load_permissions", &lua_fn.load_permissions, (chat.0, id.0))?,
            CallEffect::FindPairs { permissions: rules } => {
                let given: Value = call("find_wants", &lua_fn.find_wants, (chat.0, id.0))?;
                match permissions::wants(&given) {
                    Some(wants) => runtime.find_pairs(chat, id, wants, rules),
                    None => {
                        return Ok(Some(CallEvent::FactFound { fact: Fact::Pairs, found: None }));
                    }
                }
            }
            CallEffect::FindSaved { project, approvals } => runtime.find_approvals(chat, id, project, approvals),
            CallEffect::AskJudge => call("ask_judge", &lua_fn.ask_judge, (chat.0, id.0))?,
            CallEffect::EndJudge { judged } => {
                runtime.abort_judge(id);
                let (status, reason) = judged.as_ref().map_or(("stopped", ""), |judged| judged.words());
                call("end_judge", &lua_fn.end_judge, (chat.0, id.0, status, reason))?
            }
            CallEffect::AskApproval { question, rest } => {
                let cause = cause_word(question.cause);
                let asked = Asked { question, cause, rest };
                let given = call("ask_approval", &lua_fn.ask_approval, (chat.0, id.0, asked))?;
                let reason = optional_text("ask_approval", &given)?;
                return Ok(reason.map(reject));
            }
            CallEffect::CloseQuestion => call("close_question", &lua_fn.close_question, (chat.0, id.0))?,
            CallEffect::RunCmd { cmd } => {
                let given: Value = call("run_cmd", &lua_fn.run_cmd, (chat.0, id.0, cmd + 1))?;
                return match given {
                    Value::Nil => Ok(None),
                    Value::Boolean(succeeded) => Ok(Some(CallEvent::CmdFinished { cmd, succeeded })),
                    other => Err(returned("run_cmd", "a boolean or nil", &other)),
                };
            }
            CallEffect::StoreText { cmd, succeeded, text } => {
                let arguments = (chat.0, id.0, cmd + 1, succeeded, text.as_str());
                call("store_text", &lua_fn.store_text, arguments)?
            }
            CallEffect::KillJobs { why } => {
                runtime.stop_command(id, why);
                call("kill_jobs", &lua_fn.kill_jobs, (chat.0, id.0))?
            }
            CallEffect::RunOutput { output } => {
                let (kind, cmd, text) = output_words(&output);
                let given = call("run_output", &lua_fn.run_output, (chat.0, id.0, kind, cmd, text))?;
                let outcome = match &given {
                    // A call that was still queued: what its tool defines was not known.
                    Value::Boolean(false) => OutputOutcome::Undefined,
                    other => optional_text("run_output", other)?.map_or(OutputOutcome::Ran, OutputOutcome::Threw),
                };
                return Ok(Some(CallEvent::OutputFinished(outcome)));
            }
            CallEffect::RunExit { shared } => {
                call::<()>("run_exit", &lua_fn.run_exit, (chat.0, id.0, shared))?;
                return Ok(Some(CallEvent::ExitFinished));
            }
            CallEffect::Shorten { content, limits, media } => {
                runtime.shorten(chat, id, content, limits, media);
            }
            CallEffect::FinishCall { status, content, duration_ms, message } => {
                let arguments = (chat.0, id.0, status.as_str(), content.as_deref(), duration_ms);
                let given: MultiValue = call("finish_call", &lua_fn.finish_call, arguments)?;
                // Nothing is given of a chat that is not saved.
                if let Some(look) = look(&message, &given)? {
                    runtime.store().look(chat, id, look);
                }
            }
        }
        Ok(None)
    }

    /// Turns arguments into Lua until `until`. Some: they are done.
    pub fn unfold(&self, lua: &Lua, arguments: &mut Unfolding, until: Instant) -> Result<Option<Value>, PerformError> {
        arguments.advance(&self.marks, lua, until).map_err(threw("prepare_call"))
    }

    /// Has Lua make its copy of a call.
    pub fn prepare(&self, chat: ChatId, id: CallId, arguments: Value, copying: Copying) -> Result<Event, PerformError> {
        let arguments = (chat.0, id.0, arguments, copying_word(copying));
        let given = call("prepare_call", &self.functions.prepare_call, arguments)?;
        preparation(chat, id, &given)
    }

    /// Hands the reply of a slow export to who waits for it.
    pub fn reply(&self, lua: &Lua, number: u64, make: Make) -> Result<(), PerformError> {
        let (value, fault) = match make(lua).map_err(threw("reply"))? {
            Ok(value) => (value, None),
            Err(fault) => (Value::Nil, Some(fault)),
        };
        call("reply", &self.functions.reply, (number, value, fault))
    }

    fn restore_call(
        &self,
        chat: ChatId,
        (message, index): (&Message, usize),
        result: &Message,
        look: Look,
    ) -> Result<(), PerformError> {
        let (Message::Llm { calls, .. }, Message::Tool { content, is_error, .. }) = (message, result) else {
            return Ok(());
        };
        let Some(made) = calls.get(index) else { return Ok(()) };
        let body = match &look.body {
            // Nothing is known of its looks: the result says most.
            Body::Nothing if look.state.is_empty() => Some(content.as_str()),
            Body::Nothing => None,
            Body::Result => Some(content.as_str()),
            Body::Text(text) => Some(text.as_str()),
        };
        let (wire_id, name, arguments) = (made.wire_id.as_str(), made.name.as_str(), made.arguments.as_str());
        let (state, head, fact) = (look.state.as_str(), look.head.as_str(), look.fact.as_deref());
        let arguments = (chat.0, wire_id, name, arguments, *is_error, state, head, fact, body);
        call("restore_call", &self.functions.restore_call, arguments)
    }

    fn message(
        &self,
        performer: &'static str,
        function: &Function,
        chat: ChatId,
        message: &Message,
    ) -> Result<(), PerformError> {
        let none: Option<&str> = None;
        match message {
            Message::System { content } => {
                call(performer, function, (chat.0, "system", content.as_str(), none, none, false))
            }
            Message::User { content, visible, typed, attachments: _ } => {
                let typed = typed.as_deref();
                call(performer, function, (chat.0, "user", content.as_str(), none, none, *visible, none, typed))
            }
            // The calls follow, each as an effect of its own.
            Message::Llm { content, reasoning, calls: _, opaque: _ } => {
                let reasoning = Some(reasoning.as_str()).filter(|reasoning| !reasoning.is_empty());
                call(performer, function, (chat.0, "llm", content.as_str(), none, none, true, reasoning))
            }
            Message::Tool { wire_id, content, is_error, .. } => {
                call(performer, function, (chat.0, "tool", content.as_str(), wire_id.as_str(), *is_error, true))
            }
        }
    }
}

/// The reply for a call whose preparation was our fault.
pub fn not_prepared(chat: ChatId, call: CallId) -> Event {
    Event::call(chat, call, CallEvent::NotPrepared { message: OUR_FAULT.to_owned(), on_exit: false })
}

fn call<R: FromLuaMulti>(
    performer: &'static str,
    function: &Function,
    arguments: impl IntoLuaMulti,
) -> Result<R, PerformError> {
    function.call(arguments).map_err(threw(performer))
}

fn threw(performer: &'static str) -> impl FnOnce(mlua::Error) -> PerformError {
    move |source| PerformError::Threw { performer, source }
}

fn returned(performer: &'static str, wanted: &'static str, given: &Value) -> PerformError {
    PerformError::Returned { performer, wanted, given: given.type_name().to_owned() }
}

fn optional_text(performer: &'static str, given: &Value) -> Result<Option<String>, PerformError> {
    match given {
        Value::Nil => Ok(None),
        other => text(other).map(Some).ok_or_else(|| returned(performer, "a string or nil", other)),
    }
}

fn reject(reason: String) -> CallEvent {
    CallEvent::Answered(Answer::Reject { reason: Some(reason) })
}

/// Reads `true, n_cmds, defines, approval, timeout_ms or nil` or `false, message, set_up, on_exit, denied`.
fn preparation(chat: ChatId, call: CallId, given: &MultiValue) -> Result<Event, PerformError> {
    let nil = Value::Nil;
    let at = |index: usize| given.get(index).unwrap_or(&nil);
    let wanted = |wanted: &'static str, index: usize| returned("prepare_call", wanted, at(index));
    let whole = |index: usize| integer(at(index)).ok_or_else(|| wanted("a whole number", index));
    let boolean = |index: usize| at(index).as_boolean().ok_or_else(|| wanted("a boolean", index));
    if !boolean(0)? {
        let message = text(at(1)).ok_or_else(|| wanted("a message", 1))?;
        if at(4).as_boolean() == Some(true) {
            return Ok(Event::call(chat, call, CallEvent::Denied { message }));
        }
        // `on_exit` is due only after `setup`.
        let on_exit = boolean(2)? && boolean(3)?;
        return Ok(Event::call(chat, call, CallEvent::NotPrepared { message, on_exit }));
    }
    let approval = match text(at(3)).as_deref() {
        Some("run") => OwnApproval::Run,
        Some("ask") => OwnApproval::Ask,
        Some("function") => OwnApproval::Function,
        _ => return Err(wanted("\"run\", \"ask\" or \"function\"", 3)),
    };
    let flags = whole(2)?;
    let preparation = Preparation {
        cmds: usize::try_from(whole(1)?).map_err(|_| wanted("a number of cmds", 1))?,
        defines: defined(flags),
        gate: GateSettings {
            own: approval,
            protect: flags & 32 != 0,
            by_command: flags & 64 != 0,
            is_safe: flags & 128 != 0,
            declares: flags & 512 != 0,
            has_commands: flags & 1024 != 0,
            judge: flags & 256 != 0,
        },
        timeout_ms: if at(4).is_nil() { None } else { Some(whole(4)?) },
    };
    Ok(Event::call(chat, call, CallEvent::Prepared(preparation)))
}

fn defined(flags: u64) -> Defined {
    Defined {
        success: flags & 1 != 0,
        error: flags & 2 != 0,
        rejected: flags & 4 != 0,
        cancelled: flags & 8 != 0,
        on_exit: flags & 16 != 0,
    }
}

/// Reads `state, head, fact or nil, body or nil`: how a call looks that is over. Nothing: it is not known.
fn look(result: &Message, given: &MultiValue) -> Result<Option<Look>, PerformError> {
    let nil = Value::Nil;
    let at = |index: usize| given.get(index).unwrap_or(&nil);
    let optional = |index: usize| optional_text("finish_call", at(index));
    let (Some(state), Some(head), fact) = (optional(0)?, optional(1)?, optional(2)?) else { return Ok(None) };
    let content = if let Message::Tool { content, .. } = result { content.as_str() } else { "" };
    let body = match at(3).as_string() {
        None => Body::Nothing,
        // Mostly: it is not copied.
        Some(body) if *body.as_bytes() == *content.as_bytes() => Body::Result,
        Some(body) => Body::Text(body.to_string_lossy()),
    };
    Ok(Some(Look { state, head, fact, body }))
}

/// Kind, cmd counted from 1, text.
fn output_words(output: &Output) -> (&'static str, Option<usize>, Option<&str>) {
    match output {
        Output::Success { cmd } => ("success", Some(cmd + 1), None),
        Output::Error { cmd, message } => ("error", Some(cmd + 1), message.as_deref()),
        Output::Rejected { reason } => ("rejected", None, reason.as_deref()),
        Output::Cancelled => ("cancelled", None, None),
    }
}

fn notice_words(notice: &Notice) -> (&'static str, Option<&str>) {
    match notice {
        Notice::RequestFailed(message) => ("request_failed", Some(message)),
        Notice::Request(text) => ("request", Some(text)),
        Notice::Retrying(retry) => ("retrying", Some(&retry.reason)),
        Notice::Restored(text) => ("restored", Some(text)),
        Notice::Saving(text) => ("saving", Some(text)),
        Notice::NothingToSend => ("nothing_to_send", None),
        Notice::NothingToSkip => ("nothing_to_skip", None),
        Notice::NothingToEdit => ("nothing_to_edit", None),
        Notice::StillRunning => ("still_running", None),
        Notice::LengthStop => ("length_stop", None),
        Notice::ContentFilter(why) => ("content_filter", Some(why)),
        Notice::Refused(why) => ("refused", Some(why)),
        Notice::EndedFor(why) => ("ended_for", Some(why)),
        Notice::CallAsText => ("call_as_text", None),
        Notice::RepeatedCall { name } => ("repeated_call", Some(name)),
    }
}

fn end_word(end: TurnEnd) -> &'static str {
    match end {
        TurnEnd::Done => "done",
        TurnEnd::Stopped => "stopped",
        TurnEnd::Cancelled => "cancelled",
        TurnEnd::Failed => "failed",
        TurnEnd::Held => "held",
    }
}

fn cause_word(cause: Cause) -> &'static str {
    match cause {
        Cause::Unknown => "unknown",
        Cause::Rule => "rule",
        Cause::DoomLoop => "doom_loop",
        Cause::Protected => "protected",
        Cause::AutoMode => "auto_mode",
        Cause::OwnApproval => "own_approval",
    }
}

fn fact_word(fact: Fact) -> &'static str {
    match fact {
        Fact::OwnApproval => "own_approval",
        Fact::CmdString => "cmd_string",
        Fact::IsSafe => "is_safe",
        Fact::JudgeContext => "judge_context",
        // They have effects of their own.
        Fact::Rules => "rules",
        Fact::Pairs => "pairs",
        Fact::Saved => "saved",
        Fact::Judge => "judge",
    }
}

/// What a fact is that Lua found; nil: it could not be found. A command that is no UTF-8 is nobody's to remember: another
/// could look the same.
fn found(fact: Fact, given: &Value) -> Result<Option<Found>, PerformError> {
    let boolean = |found: fn(bool) -> Found| match given {
        Value::Nil => Ok(None),
        Value::Boolean(answer) => Ok(Some(found(*answer))),
        other => Err(returned("find_fact", "a boolean or nil", other)),
    };
    match fact {
        Fact::OwnApproval => boolean(Found::OwnApproval),
        Fact::IsSafe => boolean(Found::IsSafe),
        Fact::JudgeContext => boolean(Found::JudgeContext),
        Fact::CmdString => match given {
            Value::Nil | Value::String(_) => Ok(exact_text(given).map(Found::CmdString)),
            other => Err(returned("find_fact", "a string or nil", other)),
        },
        Fact::Rules | Fact::Pairs | Fact::Saved | Fact::Judge => Ok(None),
    }
}

fn copying_word(copying: Copying) -> &'static str {
    match copying {
        Copying::Own => "own",
        Copying::First => "first",
        Copying::Shared => "shared",
    }
}

fn level_word(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Debug => "debug",
        LogLevel::Warn => "warn",
        LogLevel::Error => "error",
    }
}
